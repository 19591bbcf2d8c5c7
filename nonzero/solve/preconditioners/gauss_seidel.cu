// The kernels of Gauss-Seidel that are no products.
#include "nonzero/solve/preconditioners/gauss_seidel_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                 \
    template void launch_fused(gpu, std::int64_t, const gather_step<V>&, one_scalar<V>*); \
    template void launch_fused(gpu, std::int64_t, const scatter_step<V>&, one_scalar<V>*);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
