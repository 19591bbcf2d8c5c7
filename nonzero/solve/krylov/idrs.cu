// The kernels of IDR(s).
#include "nonzero/solve/krylov/idrs_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

using state = idrs_scalars<double>;

#define NZ_INSTANTIATE(V)                                                                  \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, state>&, state*); \
    template void launch_fused(gpu, std::int64_t, const idrs_project<V>&, state*);         \
    template void launch_fused(gpu, std::int64_t, const idrs_rest<V>&, state*);            \
    template void launch_fused(gpu, std::int64_t, const idrs_direction<V>&, state*);       \
    template void launch_fused(gpu, std::int64_t, const idrs_products<V>&, state*);        \
    template void launch_fused(gpu, std::int64_t, const idrs_update<V>&, state*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
