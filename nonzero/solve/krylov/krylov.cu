// The kernels of norms that do not overflow, and of residuals.
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

template <class R>
__device__ double norm2_of_multiple(double factor, device_complex<R> v) {
    return norm2(factor * double(v.re)) + norm2(factor * double(v.im));
}

#define NZ_INSTANTIATE(V)                                                                  \
    template void launch_fused(gpu, std::int64_t, const scaled_squares<V>&, square_sums*); \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, krylov_state>&,   \
                               krylov_state*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
