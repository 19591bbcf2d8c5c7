// The kernel of norms that do not overflow.
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

template void launch_fused(gpu, std::int64_t, const scaled_squares<float>&, square_sums*);
template void launch_fused(gpu, std::int64_t, const scaled_squares<double>&, square_sums*);

}  // namespace nz
