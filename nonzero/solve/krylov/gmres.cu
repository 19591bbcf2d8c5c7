// The kernels of GMRES.
#include "nonzero/solve/krylov/gmres_steps.hpp"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {

using state = gmres_column_scalars<double>;

#define NZ_INSTANTIATE_FOR_COLUMNS(...) \
    template void launch_columns(gpu, std::int64_t, index, const __VA_ARGS__&, state*);
#define NZ_INSTANTIATE(V)                                                                   \
    template void launch_fused(gpu, std::int64_t, const gmres_project<V>&, krylov_state*);  \
    template void launch_fused(gpu, std::int64_t, const gmres_subtract<V>&, krylov_state*); \
    template void launch_fused(gpu, std::int64_t, const gmres_combine<V>&, krylov_state*);  \
    NZ_INSTANTIATE_FOR_COLUMNS(residual_step<V, state>)                                     \
    NZ_INSTANTIATE_FOR_COLUMNS(gmres_project_columns<V>)                                    \
    NZ_INSTANTIATE_FOR_COLUMNS(gmres_subtract_columns<V>)                                   \
    NZ_INSTANTIATE_FOR_COLUMNS(gmres_scale_columns<V>)                                      \
    NZ_INSTANTIATE_FOR_COLUMNS(gmres_combine_columns<V>)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
