// The smoothers' fused kernels on a GPU.
#include "nonzero/solve/multigrid/chebyshev.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

#define NZ_INSTANTIATE_STEP(V, ...)                                                    \
    template void launch_fused(gpu, std::int64_t, const __VA_ARGS__&, one_scalar<V>*); \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, one_scalar<V>*);
#define NZ_INSTANTIATE(V)                                                                        \
    NZ_INSTANTIATE_STEP(V, first_iterate<V>)                                                     \
    NZ_INSTANTIATE_STEP(V, iterate_residual<V>)                                                  \
    NZ_INSTANTIATE_STEP(V, next_iterate<V>)                                                      \
    NZ_INSTANTIATE_STEP(V, next_iterate_with_momentum<V>)                                        \
    template void launch_fused(gpu, std::int64_t, const lanczos_start<V>&, lanczos_scalars*);    \
    template void launch_fused(gpu, std::int64_t, const lanczos_diagonal<V>&, lanczos_scalars*); \
    template void launch_fused(gpu, std::int64_t, const lanczos_step<V>&, lanczos_scalars*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
