// The kernels of IDR(s).
#include "nonzero/solve/krylov/idrs_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

template <class V>
using state = idrs_scalars<wide_value<V>>;

#define NZ_INSTANTIATE(V)                                                                        \
    template void launch_fused(gpu, std::int64_t, const residual_step<V, state<V>>&, state<V>*); \
    template void launch_fused(gpu, std::int64_t, const idrs_project<V>&, state<V>*);            \
    template void launch_fused(gpu, std::int64_t, const idrs_rest<V>&, state<V>*);               \
    template void launch_fused(gpu, std::int64_t, const idrs_direction<V>&, state<V>*);          \
    template void launch_fused(gpu, std::int64_t, const idrs_products<V>&, state<V>*);           \
    template void launch_fused(gpu, std::int64_t, const idrs_update<V>&, state<V>*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
