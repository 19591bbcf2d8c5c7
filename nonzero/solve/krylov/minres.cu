// The kernels of MINRES.
#include "nonzero/solve/krylov/minres_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

using state = minres_scalars;

#define NZ_INSTANTIATE_STEP(...)                                               \
    template void launch_fused(gpu, std::int64_t, const __VA_ARGS__&, state*); \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, state*);
#define NZ_INSTANTIATE(V)                         \
    NZ_INSTANTIATE_STEP(residual_step<V, state>)  \
    NZ_INSTANTIATE_STEP(minres_begin<V>)          \
    NZ_INSTANTIATE_STEP(minres_curvature<V>)      \
    NZ_INSTANTIATE_STEP(minres_direction<V>)      \
    NZ_INSTANTIATE_STEP(minres_preconditioned<V>) \
    NZ_INSTANTIATE_STEP(minres_residual<V>)       \
    NZ_INSTANTIATE_STEP(minres_finalize<V>)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
