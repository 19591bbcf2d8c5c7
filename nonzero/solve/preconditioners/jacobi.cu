// Inverses of diagonals on a GPU.
#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/solve/preconditioners/jacobi_on_gpu.hpp"

namespace nz {
namespace {

template <class V>
struct invert_diagonal {
    const V* diagonal;
    V* to;
    bool of_magnitudes;
    unsigned* bad;
    __device__ void operator()(std::int64_t i) const {
        const V d = of_magnitudes ? V(fabs(diagonal[i])) : diagonal[i];
        const V inverse = V(1) / d;
        to[i] = inverse;
        if (d == V(0) || !isfinite(d) || !isfinite(inverse)) atomicMin(bad, unsigned(i));
    }
};

}  // namespace

template <class V>
device_array<V> inverse_of(gpu on, device_span<V> diagonal, bool of_magnitudes,
                           std::int64_t& bad_row) {
    const device_guard guard(on);
    device_array<V> inverse(on, diagonal.size());
    device_array<unsigned> bad(on, 1);
    fill_bytes(on, bad, 0xff);
    launch_each(on, std::int64_t(diagonal.size()),
                invert_diagonal<V>{diagonal.data(), inverse.data(), of_magnitudes, bad.data()});
    const unsigned found = read_back(on, bad.data());
    bad_row = found == ~0U ? -1 : std::int64_t(found);
    return inverse;
}

template device_array<float> inverse_of(gpu, device_span<float>, bool, std::int64_t&);
template device_array<double> inverse_of(gpu, device_span<double>, bool, std::int64_t&);

}  // namespace nz
