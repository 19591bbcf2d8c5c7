// The kernels of MINRES.
#include "nonzero/solve/krylov/minres_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

using state = minres_scalars;

#define NZ_INSTANTIATE(V)                                                                   \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, state>&, state*);  \
    template void launch_fused(gpu, std::int64_t, const minres_begin<V>&, state*);          \
    template void launch_fused(gpu, std::int64_t, const minres_curvature<V>&, state*);      \
    template void launch_fused(gpu, std::int64_t, const minres_direction<V>&, state*);      \
    template void launch_fused(gpu, std::int64_t, const minres_preconditioned<V>&, state*); \
    template void launch_fused(gpu, std::int64_t, const minres_residual<V>&, state*);       \
    template void launch_fused(gpu, std::int64_t, const minres_finalize<V>&, state*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
