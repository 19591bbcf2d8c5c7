// The kernels of LSQR.
#include "nonzero/solve/least_squares/least_squares_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

using state = lsqr_scalars;

#define NZ_INSTANTIATE(V)                                                                     \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, state>&, state*);    \
    template void launch_fused(gpu, std::int64_t, const bidiagonal_left<V, state>&, state*);  \
    template void launch_fused(gpu, std::int64_t, const bidiagonal_right<V, state>&, state*); \
    template void launch_fused(gpu, std::int64_t, const lsqr_move<V>&, state*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
