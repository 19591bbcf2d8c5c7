// Iterations as a CUDA graph with a while node, so that the GPU needs no CPU from the first
// iteration to the last.
#include "nonzero/core/cuda.cuh"
#include "nonzero/solve/loop.hpp"

namespace nz {
namespace {

cudaGraph_t graph_of(void* p) { return static_cast<cudaGraph_t>(p); }
cudaGraphExec_t runnable_of(void* p) { return static_cast<cudaGraphExec_t>(p); }

/// Captures what f launches in the stream, into `into` where that is given. Throws what f throws,
/// and device_error where something in it cannot be captured.
template <class F>
cudaGraph_t captured(cudaStream_t stream, cudaGraph_t into, F f) {
    // Other threads may do as they like meanwhile.
    constexpr auto mode = cudaStreamCaptureModeThreadLocal;
#if CUDART_VERSION >= 12040
    if (into != nullptr) {
        check(cudaStreamBeginCaptureToGraph(stream, into, nullptr, nullptr, 0, mode),
              "cudaStreamBeginCaptureToGraph");
    } else  // NOLINT: the two share what follows
#endif
        check(cudaStreamBeginCapture(stream, mode), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
        f();
    } catch (...) {
        cudaStreamEndCapture(stream, &graph);
        if (into == nullptr && graph != nullptr) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    return graph;
}

#if CUDART_VERSION >= 12040
/// An empty while node in `graph`: its body, and the handle that ends it.
cudaGraph_t add_while(cudaGraph_t graph, unsigned long long& handle) {
    cudaGraphConditionalHandle h{};
    // Each launch begins with "true".
    check(cudaGraphConditionalHandleCreate(&h, graph, 1, cudaGraphCondAssignDefault),
          "cudaGraphConditionalHandleCreate");
    cudaGraphNodeParams p{};
    p.type = cudaGraphNodeTypeConditional;
    p.conditional.handle = h;
    p.conditional.type = cudaGraphCondTypeWhile;
    p.conditional.size = 1;
    cudaGraphNode_t node = nullptr;
#if CUDART_VERSION >= 13000
    check(cudaGraphAddNode(&node, graph, nullptr, nullptr, 0, &p), "cudaGraphAddNode");
#else
    check(cudaGraphAddNode(&node, graph, nullptr, 0, &p), "cudaGraphAddNode");
#endif
    handle = h;
    return p.conditional.phGraph_out[0];
}
#endif

/// Launches before the CPU looks in where the GPU cannot decide: more as the solve gets longer.
constexpr int first_launches = 4, most_launches = 32;

}  // namespace

loop<gpu>::loop(gpu on, std::function<void()> iteration, loop_state* state, bool graph)
    : on_(on), iteration_(std::move(iteration)), state_(state) {
    if (!graph || on.stream == nullptr) return;
    const device_guard guard(on);
    try {
        capture();
    } catch (const std::exception&) {
        cudaGetLastError();  // what cannot be captured is launched one by one
        drop_graph();
    }
}

void loop<gpu>::capture() {
    const cudaStream_t stream = stream_of(on_);
    cudaGraph_t graph = nullptr;
    unsigned long long handle = 0;
#if CUDART_VERSION >= 12040
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    graph_ = graph;
    captured(stream, add_while(graph, handle), iteration_);
    loops_ = true;
#else
    graph_ = graph = captured(stream, nullptr, iteration_);
#endif
    cudaGraphExec_t runnable = nullptr;
    check(cudaGraphInstantiate(&runnable, graph, 0), "cudaGraphInstantiate");
    runnable_ = runnable;
    copy_to_device(on_, &handle, &state_->while_handle, sizeof(handle));
}

void loop<gpu>::drop_graph() {
    if (runnable_ != nullptr) cudaGraphExecDestroy(runnable_of(runnable_));
    if (graph_ != nullptr) cudaGraphDestroy(graph_of(graph_));
    runnable_ = graph_ = nullptr;
    loops_ = false;
}

loop<gpu>::~loop() { drop_graph(); }

void loop<gpu>::run() {
    const device_guard guard(on_);
    loop_state s;
    const auto look = [&] {
        copy_to_host(on_, state_, &s, sizeof(s));
        return s.goes_on();
    };
    for (int launches = first_launches; look(); launches = std::min(2 * launches, most_launches)) {
        for (int k = 0; k < (loops_ ? 1 : launches); ++k) {
            if (runnable_ != nullptr) {
                check(cudaGraphLaunch(runnable_of(runnable_), stream_of(on_)), "cudaGraphLaunch");
            } else {
                iteration_();
            }
        }
    }
}

}  // namespace nz
