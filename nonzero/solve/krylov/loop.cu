// Iterations as a CUDA graph with a while node, so that the GPU needs no CPU from the first
// iteration to the last.
#include <algorithm>
#include <memory>
#include <type_traits>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/capture.cuh"
#include "nonzero/solve/krylov/loop.hpp"

namespace nz {
namespace {

cudaGraphExec_t runnable_of(void* p) { return static_cast<cudaGraphExec_t>(p); }

struct graph_deleter {
    void operator()(cudaGraph_t graph) const { cudaGraphDestroy(graph); }
};
using owned_graph = std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, graph_deleter>;

/// Graph of the launches of f in the stream. Throws what f throws, and device_error where something
/// in it cannot be captured.
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

// Where the GPU cannot decide, the CPU looks at the state after some iterations. What is launched
// after the last one is wasted, and an iteration with multigrid takes long: so the CPU waits for
// each look among the first iterations. Later it launches the next ones before it waits, so that
// the GPU never does (docs/experiments/several-gpus.md).
constexpr std::int64_t closely_watched = 32;  ///< iterations
constexpr std::int64_t between_looks = 4;     ///< iterations, later

}  // namespace

/// Two places in the CPU's memory that the state is copied to in turn, in the order of the stream.
struct loop<gpu>::watch {
    watch() {
        const beside_captures mine;
        check(cudaHostAlloc(&seen, 2 * sizeof(loop_state), cudaHostAllocDefault), "cudaHostAlloc");
        for (cudaEvent_t& e : arrived)
            check(cudaEventCreateWithFlags(&e, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    }
    watch(const watch&) = delete;
    watch& operator=(const watch&) = delete;
    ~watch() {
        for (const cudaEvent_t e : arrived) cudaEventDestroy(e);
        cudaFreeHost(seen);
    }

    void look(gpu on, const loop_state* state, int k) {
        check(cudaMemcpyAsync(seen + k, state, sizeof(loop_state), cudaMemcpyDeviceToHost,
                              stream_of(on)),
              "cudaMemcpyAsync of an iteration's state");
        check(cudaEventRecord(arrived[k], stream_of(on)), "cudaEventRecord");
    }
    /// State that look k saw.
    const loop_state& wait(int k) const {
        check(cudaEventSynchronize(arrived[k]), "cudaEventSynchronize");
        return seen[k];
    }

    loop_state* seen = nullptr;
    cudaEvent_t arrived[2] = {};
};

loop<gpu>::loop(gpu on, std::function<void()> iteration, loop_state* state, bool graph,
                int at_a_time)
    : on_(on), iteration_(std::move(iteration)), state_(state), at_a_time_(at_a_time) {
    const device_guard guard(on);
    // Exchanges between ranks are launched anew in every iteration.
    if (graph && on.stream != nullptr && on.ranks == nullptr) try {
            capture();
        } catch (const std::exception&) {
            cudaGetLastError();  // what cannot be captured is launched one by one
            drop_graph();
        }
    if (!loops_) watch_ = std::make_unique<watch>();
}

void loop<gpu>::capture() {
    owned_graph graph = captured(stream_of(on_), [&] {
        for (int k = 0; k < at_a_time_; ++k) iteration_();
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

void loop<gpu>::launch(std::int64_t iterations) {
    if (runnable_ == nullptr) {
        for (std::int64_t k = 0; k < iterations; ++k) iteration_();
        return;
    }
    for (std::int64_t k = 0; k < iterations; k += at_a_time_)
        check(cudaGraphLaunch(runnable_of(runnable_), stream_of(on_)), "cudaGraphLaunch");
}

/// Which iterations are launched follows from the states after certain iterations, which all ranks
/// share, and not from when a CPU sees them.
void loop<gpu>::run_watched() {
    const auto start = read_back(on_, state_);
    const std::int64_t wanted = start.pause_at - start.iterations;
    bool is_running = true;
    int looks = 0;
    for (std::int64_t launched = 0; is_running && launched < wanted;) {
        const bool ahead = start.iterations + launched >= closely_watched;
        const std::int64_t more = std::min(
            wanted - launched, std::max<std::int64_t>(ahead ? between_looks : 1, at_a_time_));
        launch(more);
        launched += more;
        watch_->look(on_, state_, looks % 2);
        if (!ahead)
            is_running = watch_->wait(looks % 2).is_running();
        else if (looks > 0)
            is_running = watch_->wait((looks + 1) % 2).is_running();
        ++looks;
    }
    synchronize(on_);
}

void loop<gpu>::run() {
    const device_guard guard(on_);
    if (!loops_) return run_watched();
    do check(cudaGraphLaunch(runnable_of(runnable_), stream_of(on_)), "cudaGraphLaunch");
    while (read_back(on_, state_).is_running());
}

}  // namespace nz
