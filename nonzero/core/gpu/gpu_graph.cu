#include "nonzero/core/gpu_graph.hpp"
#include "nonzero/core/stream.hpp"

#include "nonzero/core/cuda.cuh"

namespace nz {
namespace {

cudaGraphExec_t runnable_of(void* p) { return static_cast<cudaGraphExec_t>(p); }

}  // namespace

gpu_graph::gpu_graph(gpu on, const std::function<void()>& launch) {
    const device_guard guard(on);
    check(cudaStreamBeginCapture(stream_of(on), cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
        launch();
    } catch (...) {
        if (cudaStreamEndCapture(stream_of(on), &graph) == cudaSuccess) cudaGraphDestroy(graph);
        cudaGetLastError();  // or the next, innocent call would report it
        throw;
    }
    check(cudaStreamEndCapture(stream_of(on), &graph), "cudaStreamEndCapture");
    cudaGraphExec_t runnable = nullptr;
    const cudaError_t code = cudaGraphInstantiate(&runnable, graph, 0);
    cudaGraphDestroy(graph);
    check(code, "cudaGraphInstantiate");
    runnable_ = runnable;
}

gpu_graph::~gpu_graph() { cudaGraphExecDestroy(runnable_of(runnable_)); }

void gpu_graph::run(gpu on) const {
    check(cudaGraphLaunch(runnable_of(runnable_), stream_of(on)), "cudaGraphLaunch");
}

}  // namespace nz
