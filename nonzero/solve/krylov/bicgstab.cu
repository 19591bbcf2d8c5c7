// The kernels of BiCGSTAB.
#include "nonzero/solve/krylov/bicgstab_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

using state = bicgstab_scalars<double>;

#define NZ_INSTANTIATE(V)                                                                  \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, state>&, state*); \
    template void launch_fused(gpu, std::int64_t, const bicgstab_direction<V>&, state*);   \
    template void launch_fused(gpu, std::int64_t, const bicgstab_alpha<V>&, state*);       \
    template void launch_fused(gpu, std::int64_t, const bicgstab_half<V>&, state*);        \
    template void launch_fused(gpu, std::int64_t, const bicgstab_omega<V>&, state*);       \
    template void launch_fused(gpu, std::int64_t, const bicgstab_update<V>&, state*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
