// The kernels of PageRank.
#include "nonzero/graph/pagerank_step.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {

template void launch_fused(gpu, std::int64_t, const pagerank_step<float>&, pagerank_state*);
template void launch_fused(gpu, std::int64_t, const pagerank_step<double>&, pagerank_state*);

}  // namespace nz
