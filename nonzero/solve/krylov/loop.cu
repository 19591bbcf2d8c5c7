// Iterations as a CUDA graph with a while node, so that the GPU needs no CPU from the first
// iteration to the last.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "nonzero/core/cuda.cuh"
#include "nonzero/solve/krylov/loop.hpp"

namespace nz {
namespace {

cudaGraphExec_t runnable_of(void* p) { return static_cast<cudaGraphExec_t>(p); }

struct graph_deleter {
    void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using owned_graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, graph_deleter>;

/// What f launches in the stream. Throws what f throws, and device_error where something in it
/// cannot be captured.
template <class F>
owned_graph captured(cudaStream_t stream, F f) {
    // Other threads may do as they like meanwhile.
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal),
          "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
        f();
    } catch (...) {
        if (cudaStreamEndCapture(stream, &graph) == cudaSuccess) cudaGraphDestroy(graph);
        throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    return owned_graph(graph);
}

#if CUDART_VERSION >= 12040
/// A graph that repeats `body` until the kernels in it set the handle's value to 0.
owned_graph looped(const owned_graph& body, unsigned long long& handle) {
    cudaGraph_t graph = nullptr;
    check(cudaGraphCreate(&graph, 0), "cudaGraphCreate");
    owned_graph owned(graph);
    cudaGraphConditionalHandle h{};
    // Each launch begins with 1.
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
    // Captured apart: a capture that fails within the body would take the process with it.
    check(cudaGraphAddChildGraphNode(&node, p.conditional.phGraph_out[0], nullptr, 0, body.get()),
          "cudaGraphAddChildGraphNode");
    handle = h;
    return owned;
}
#endif

/// Iterations launched before the CPU looks in where the GPU cannot decide: a quarter of those so
/// far, and at most this many. What is launched after the last one is wasted, and an iteration with
/// multigrid takes long.
constexpr int most_launches = 32;

}  // namespace

loop<gpu>::loop(gpu on, std::function<void()> iteration, loop_state* state, bool graph,
                int at_a_time)
    : on_(on), iteration_(std::move(iteration)), state_(state), least_launches_(at_a_time) {
    // What ranks exchange is launched anew in every iteration.
    if (!graph || on.stream == nullptr || on.ranks != nullptr) return;
    const device_guard guard(on);
    try {
        capture(at_a_time);
    } catch (const std::exception&) {
        cudaGetLastError();  // what cannot be captured is launched one by one
        drop_graph();
    }
}

void loop<gpu>::capture(int at_a_time) {
    owned_graph graph = captured(stream_of(on_), [&] {
        for (int k = 0; k < at_a_time; ++k) iteration_();
    });
    unsigned long long handle = 0;
#if CUDART_VERSION >= 12040
    graph = looped(graph, handle);
    loops_ = true;
#endif
    cudaGraphExec_t runnable = nullptr;
    check(cudaGraphInstantiate(&runnable, graph.get(), 0), "cudaGraphInstantiate");
    runnable_ = runnable;
    copy_to_device(on_, &handle, &state_->while_handle, sizeof(handle));
}

void loop<gpu>::drop_graph() {
    if (runnable_ != nullptr) cudaGraphExecDestroy(runnable_of(runnable_));
    runnable_ = nullptr;
    loops_ = false;
}

loop<gpu>::~loop() { drop_graph(); }

void loop<gpu>::run() {
    const device_guard guard(on_);
    loop_state s;
    const auto is_running = [&] {
        copy_to_host(on_, state_, &s, sizeof(s));
        return s.is_running();
    };
    int launched = 0;
    do {
        const int more = std::clamp(launched / 4, least_launches_, most_launches);
        for (int k = 0; k < (loops_ ? 1 : more); ++k) {
            if (runnable_ != nullptr) {
                check(cudaGraphLaunch(runnable_of(runnable_), stream_of(on_)), "cudaGraphLaunch");
            } else {
                iteration_();
            }
        }
        launched += more;
    } while (is_running());
}

}  // namespace nz
