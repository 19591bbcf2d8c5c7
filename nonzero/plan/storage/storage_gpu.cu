// Rounds values in GPU memory to the precision that a plan stores them in.
#include <algorithm>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/plan/storage/stored_values.hpp"

namespace nz {
namespace {

/// Leaves in *first the first value that overflows.
__global__ void round_to_single(const double* __restrict__ from, std::int64_t n,
                                double* __restrict__ to, unsigned long long* first) {
    const std::int64_t threads = std::int64_t(gridDim.x) * blockDim.x;
    for (std::int64_t k = blockIdx.x * std::int64_t(blockDim.x) + threadIdx.x; k < n;
         k += threads) {
        const double v = from[k], r = double(__double2float_rn(v));
        to[k] = r;
        if (isinf(r) && !isinf(v)) atomicMin(first, static_cast<unsigned long long>(k));
    }
}

device_array<double> rounded_to_single(gpu on, device_span<double> values) {
    const device_guard guard(on);
    device_array<double> rounded(on, values.size());
    device_array<unsigned long long> first(on, 1);
    auto found = static_cast<unsigned long long>(no_overflow);
    copy_to_device(on, &found, first.data(), sizeof found);
    const auto n = std::int64_t(values.size());
    const unsigned blocks = std::min(blocks_for(n, 1024), 16 * multiprocessors());
    round_to_single<<<blocks, 256, 0, stream_of(on)>>>(values.data(), n, rounded.data(),
                                                       first.data());
    check(cudaGetLastError(), "storage: rounding");
    copy_to_host(on, first.data(), &found, sizeof found);
    if (std::int64_t(found) != no_overflow) refuse_overflow(std::int64_t(found));
    return rounded;
}

}  // namespace

template <class V>
device_array<V> stored_values(gpu on, device_span<V> values, value_storage how) {
    if constexpr (std::is_same_v<V, double>) {
        if (rounds<V>(how)) return rounded_to_single(on, values);
    } else if constexpr (is_complex<V>) {
        if (how != value_storage::exact) refuse_complex();
    }
    return {};
}

#define NZ_INSTANTIATE(V) \
    template device_array<V> stored_values(gpu, device_span<V>, value_storage);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
