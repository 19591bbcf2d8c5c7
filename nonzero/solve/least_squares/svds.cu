// The kernels of svds.
#include "nonzero/solve/least_squares/svds_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

template void launch_fused(gpu, std::int64_t, const square_step<float>&, one_scalar<double>*);
template void launch_fused(gpu, std::int64_t, const square_step<double>&, one_scalar<double>*);

}  // namespace nz
