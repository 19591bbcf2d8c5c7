// A basis's kernels on a GPU.
#include "nonzero/solve/eigs/vector_basis_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                         \
    template void launch_fused(gpu, std::int64_t, const basis_dots<V>&, one_scalar<double>*);     \
    template void launch_fused(gpu, std::int64_t, const basis_subtract<V>&, basis_squares*);      \
    template void launch_fused(gpu, std::int64_t, const basis_combine<V>&, one_scalar<double>*);  \
    template void launch_fused(gpu, std::int64_t, const basis_residual<V>&, one_scalar<double>*); \
    template void launch_fused(gpu, std::int64_t, const basis_rotate<V>&, one_scalar<double>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
