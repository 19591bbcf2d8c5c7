// nonzero/core/gpu_graph.hpp in a build without CUDA.
#include "nonzero/core/gpu_graph.hpp"
#include "nonzero/core/stream.hpp"

#include "nonzero/core/error.hpp"

namespace nz {

gpu_graph::gpu_graph(gpu on, const std::function<void()>&) { require_gpu(on); }
gpu_graph::~gpu_graph() = default;
void gpu_graph::run(gpu on) const { require_gpu(on); }

}  // namespace nz
