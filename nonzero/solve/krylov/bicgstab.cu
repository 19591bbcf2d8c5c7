// The kernels of BiCGSTAB.
#include "nonzero/solve/krylov/bicgstab_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

using state = bicgstab_scalars<double>;

#define NZ_INSTANTIATE_STEP(...)                                               \
    template void launch_fused(gpu, std::int64_t, const __VA_ARGS__&, state*); \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, state*);
#define NZ_INSTANTIATE(V)                        \
    NZ_INSTANTIATE_STEP(residual_step<V, state>) \
    NZ_INSTANTIATE_STEP(bicgstab_direction<V>)   \
    NZ_INSTANTIATE_STEP(bicgstab_alpha<V>)       \
    NZ_INSTANTIATE_STEP(bicgstab_half<V>)        \
    NZ_INSTANTIATE_STEP(bicgstab_omega<V>)       \
    NZ_INSTANTIATE_STEP(bicgstab_update<V>)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
