// The kernels of conjugate gradients.
#include "nonzero/solve/krylov/cg_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

#define NZ_INSTANTIATE_STEP(...)                                                    \
    template void launch_fused(gpu, std::int64_t, const __VA_ARGS__&, cg_scalars*); \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, cg_scalars*);
#define NZ_INSTANTIATE(V)                             \
    NZ_INSTANTIATE_STEP(residual_step<V, cg_scalars>) \
    NZ_INSTANTIATE_STEP(cg_preconditioned<V>)         \
    NZ_INSTANTIATE_STEP(cg_direction<V>)              \
    NZ_INSTANTIATE_STEP(cg_curvature<V>)              \
    NZ_INSTANTIATE_STEP(cg_residual<V>)               \
    NZ_INSTANTIATE_STEP(cg_finalize<V>)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template void launch_fused(gpu, std::int64_t, const cg_curvature_of_parts&, cg_scalars*);

}  // namespace nz
