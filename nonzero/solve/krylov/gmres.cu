// The kernels of GMRES.
#include "nonzero/solve/krylov/gmres_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                   \
    template void launch_fused(gpu, std::int64_t, const gmres_project<V>&, krylov_state*);  \
    template void launch_fused(gpu, std::int64_t, const gmres_subtract<V>&, krylov_state*); \
    template void launch_fused(gpu, std::int64_t, const gmres_combine<V>&, krylov_state*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
