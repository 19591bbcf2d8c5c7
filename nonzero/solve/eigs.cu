// The kernels of the eigenvalue solver.
#include "nonzero/solve/eigs_steps.hpp"
#include "nonzero/solve/sweep.cuh"

namespace nz {

#define NZ_INSTANTIATE(V)                                                                        \
    template void launch_sweep(gpu, std::int64_t, const eigs_dots<V>&, one_scalar<double>*);     \
    template void launch_sweep(gpu, std::int64_t, const eigs_subtract<V>&, one_scalar<double>*); \
    template void launch_sweep(gpu, std::int64_t, const eigs_residual<V>&, one_scalar<double>*); \
    template void launch_sweep(gpu, std::int64_t, const eigs_rotate<V>&, one_scalar<double>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
