// The kernels of conjugate gradients.
#include "nonzero/solve/krylov/cg_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                    \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, cg_scalars>&,       \
                               cg_scalars*);                                                 \
    template void launch_fused(gpu, std::int64_t, const cg_preconditioned<V>&, cg_scalars*); \
    template void launch_fused(gpu, std::int64_t, const cg_direction<V>&, cg_scalars*);      \
    template void launch_fused(gpu, std::int64_t, const cg_curvature<V>&, cg_scalars*);      \
    template void launch_fused(gpu, std::int64_t, const cg_residual<V>&, cg_scalars*);       \
    template void launch_fused(gpu, std::int64_t, const cg_finalize<V>&, cg_scalars*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
