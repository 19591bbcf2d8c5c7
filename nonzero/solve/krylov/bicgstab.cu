// The kernels of BiCGSTAB.
#include "nonzero/solve/krylov/bicgstab_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

template <class V>
using state = bicgstab_scalars<wide_value<V>>;

#define NZ_INSTANTIATE_STEP(V, ...)                                               \
    template void launch_fused(gpu, std::int64_t, const __VA_ARGS__&, state<V>*); \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, state<V>*);
#define NZ_INSTANTIATE(V)                              \
    NZ_INSTANTIATE_STEP(V, residual_step<V, state<V>>) \
    NZ_INSTANTIATE_STEP(V, bicgstab_direction<V>)      \
    NZ_INSTANTIATE_STEP(V, bicgstab_alpha<V>)          \
    NZ_INSTANTIATE_STEP(V, bicgstab_half<V>)           \
    NZ_INSTANTIATE_STEP(V, bicgstab_omega<V>)          \
    NZ_INSTANTIATE_STEP(V, bicgstab_update<V>)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
