// The kernels of GMRES.
#include "nonzero/solve/krylov/gmres_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

template <class V>
using state = gmres_column_scalars<wide_value<V>>;

#define NZ_INSTANTIATE_FOR_COLUMNS(V, ...) \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, state<V>*);
#define NZ_INSTANTIATE(V)                                                                   \
    template void launch_fused(gpu, std::int64_t, const gmres_project<V>&, krylov_state*);  \
    template void launch_fused(gpu, std::int64_t, const gmres_subtract<V>&, krylov_state*); \
    template void launch_fused(gpu, std::int64_t, const gmres_combine<V>&, krylov_state*);  \
    NZ_INSTANTIATE_FOR_COLUMNS(V, residual_step<V, state<V>>)                               \
    NZ_INSTANTIATE_FOR_COLUMNS(V, gmres_project_columns<V>)                                 \
    NZ_INSTANTIATE_FOR_COLUMNS(V, gmres_subtract_columns<V>)                                \
    NZ_INSTANTIATE_FOR_COLUMNS(V, gmres_scale_columns<V>)                                   \
    NZ_INSTANTIATE_FOR_COLUMNS(V, gmres_combine_columns<V>)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
