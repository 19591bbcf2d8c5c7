// The kernels of GMRES.
#include "nonzero/solve/gmres_steps.hpp"
#include "nonzero/solve/sweep.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                       \
    template void launch_sweep(gpu, std::int64_t, const residual_step<V, gmres_scalars<V>>&,    \
                               gmres_scalars<V>*);                                              \
    template void launch_sweep(gpu, std::int64_t, const gmres_project<V>&, gmres_scalars<V>*);  \
    template void launch_sweep(gpu, std::int64_t, const gmres_subtract<V>&, gmres_scalars<V>*); \
    template void launch_sweep(gpu, std::int64_t, const gmres_combine<V>&, gmres_scalars<V>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
