// Rounding to single precision and back on a GPU.
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {
using narrow = convert_step<float, double>;
using widen = convert_step<double, float>;
template void launch_fused(gpu, std::int64_t, const narrow&, one_scalar<double>*);
template void launch_fused(gpu, std::int64_t, const widen&, one_scalar<double>*);
}  // namespace nz
