// The kernels that pack and unpack what ranks exchange.
#include "nonzero/dist/halo_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                               \
    template void launch_fused(gpu, std::int64_t, const pack_step<V>&, one_scalar<V>*); \
    template void launch_fused(gpu, std::int64_t, const add_at_step<V>&, one_scalar<V>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
