// The smoothers' fused kernels on a GPU.
#include "nonzero/solve/multigrid/chebyshev.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                        \
    template void launch_fused(gpu, std::int64_t, const first_correction<V>&, one_scalar<V>*);   \
    template void launch_fused(gpu, std::int64_t, const next_correction<V>&, one_scalar<V>*);    \
    template void launch_fused(gpu, std::int64_t, const coarse_correction<V>&, one_scalar<V>*);  \
    template void launch_fused(gpu, std::int64_t, const lanczos_start<V>&, lanczos_scalars*);    \
    template void launch_fused(gpu, std::int64_t, const lanczos_diagonal<V>&, lanczos_scalars*); \
    template void launch_fused(gpu, std::int64_t, const lanczos_step<V>&, lanczos_scalars*);     \
    template void launch_columns(gpu, std::int64_t, index, const first_iterate<V>&,              \
                                 one_scalar<V>*);                                                \
    template void launch_columns(gpu, std::int64_t, index, const residual_columns<V>&,           \
                                 one_scalar<V>*);                                                \
    template void launch_columns(gpu, std::int64_t, index, const next_iterate<V>&,               \
                                 one_scalar<V>*);                                                \
    template void launch_columns(gpu, std::int64_t, index, const next_iterate_with_momentum<V>&, \
                                 one_scalar<V>*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
