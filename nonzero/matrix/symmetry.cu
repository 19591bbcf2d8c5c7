// Symmetry of a matrix on a GPU.
#include "nonzero/matrix/device_steps.cuh"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {
namespace {

/// The largest finite magnitude of a row.
template <class V>
struct find_largest {
    csr<device_value<V>, device_view> A;
    real<V>* largest;
    __device__ void operator()(std::int64_t i) const {
        real<V> most(0);
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const real<V> size = magnitude(A.val[k]);
            if (size > most && !isinf(size)) most = size;
        }
        largest[i] = most;
    }
};

/// The smallest row with an entry that is not finite or not what faces it across the diagonal.
template <class V>
struct find_fault {
    using W = device_value<V>;
    csr<W, device_view> A;
    const real<V>* largest;
    double tolerance;
    unsigned* first;
    __device__ void operator()(std::int64_t i) const {
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
            const index j = A.col_ind[k];
            const W here = A.val[k];
            const offset start = A.row_ptr[j], length = A.row_ptr[j + 1] - start;
            const offset at =
                start + first_at_least(A.col_ind.ptr + start, length, std::int64_t(i));
            const W across =
                conjugated(transposition::conjugate_transpose,
                           at < start + length && A.col_ind[at] == i ? A.val[at] : W(0));
            const double size = double(min(largest[i], largest[j]));
            const bool mirrors =
                here == across || double(magnitude(here - across)) <= tolerance * size;
            if (isfinite(magnitude(here)) && mirrors) continue;
            atomicMin(first, unsigned(i));
            return;
        }
    }
};

}  // namespace

template <class V>
std::int64_t first_asymmetric_row(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    device_array<real<V>> largest(on, std::size_t(A.shape.rows));
    device_array<unsigned> first(on, 1);
    fill_bytes(on, first, 0xff);
    launch_each(on, A.shape.rows, find_largest<V>{in_kernels(A), largest.data()});
    launch_each(on, A.shape.rows,
                find_fault<V>{in_kernels(A), largest.data(), symmetry_tolerance<V>, first.data()});
    const unsigned found = read_back(on, first.data());
    return found == ~0U ? -1 : std::int64_t(found);
}

#define NZ_INSTANTIATE(V) \
    template std::int64_t first_asymmetric_row(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
