// Rounding to single precision and back on a GPU.
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "nonzero/vector/fused.cuh"
#include "nonzero/vector/fused_columns.cuh"

namespace nz {
using narrow = convert_step<float, double>;
using widen = convert_step<double, float>;
template void launch_fused(gpu, std::int64_t, const narrow&, one_scalar<float>*);
template void launch_fused(gpu, std::int64_t, const widen&, one_scalar<float>*);
template void launch_columns(gpu, std::int64_t, index, const narrow&, one_scalar<float>*);
template void launch_columns(gpu, std::int64_t, index, const widen&, one_scalar<float>*);
}  // namespace nz
