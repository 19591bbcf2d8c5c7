// The loop around an iteration: on a GPU it runs as a graph that decides by itself when to
// stop; the CPU only looks in now and then.
#pragma once

#include <functional>
#include <memory>

#include "nonzero/solve/krylov/report.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// Base of every iteration's scalars: S derives from it and lives where B computes.
struct loop_state {
    std::int64_t iterations = 0, pause_at = 0;
    status now = status::running;   ///< at the beginning of the iteration
    status next = status::running;  ///< status found during the iteration
    double residual2 = 0;           ///< |r|^2
    double target2 = 0;             ///< the squared residual that counts as converged
    double notable2 = 0;            ///< the squared residual at which the CPU looks in
    double* history = nullptr;      ///< squares since iteration history_from, where B computes
    std::int64_t history_from = 0;
    unsigned long long while_handle = 0;  ///< handle of the graph's while node; 0: none

    [[nodiscard]] NZ_HOST_DEVICE bool is_running() const {
        return now == status::running && iterations < pause_at;
    }
    /// The rest of the iteration must leave its vectors alone.
    [[nodiscard]] NZ_HOST_DEVICE bool has_failed() const { return next != status::running; }
    [[nodiscard]] NZ_HOST_DEVICE static bool is_finite(double v) { return v - v == 0; }
    /// The sum v is positive and finite; else `otherwise` is why this iteration is the last.
    NZ_HOST_DEVICE bool expect_positive(double v, status otherwise) {
        if (v > 0 && is_finite(v)) return true;
        next = is_finite(v) ? otherwise : status::not_finite;
        return false;
    }
    /// Ends an iteration, called by its last step: judges and stores |r|^2. `after`: why there is
    /// no further one, although this one is good.
    NZ_HOST_DEVICE void end_iteration(double r2, status after = status::running) {
        if (!is_finite(r2)) next = status::not_finite;
        if (!has_failed()) {
            residual2 = r2;
            next = r2 <= target2 ? status::converged : after;
            history[iterations - history_from] = r2;
            ++iterations;
            if (r2 <= notable2) pause_at = iterations;
        }
        now = next;
#if defined(__CUDA_ARCH__) && CUDART_VERSION >= 12040
        if (while_handle != 0) cudaGraphSetConditional(while_handle, is_running());
#endif
    }
};

/// Iterations that run without the CPU looking in, at most: as long is the history.
inline constexpr std::int64_t longest_batch = 1024;

/// Calls `iteration` until *state, which lies where B computes, no longer goes on. An iteration is
/// made of fused kernels that skip where the status is not running, and ends with end_iteration().
template <class B>
class loop;

template <>
class loop<cpu> {
  public:
    loop(cpu, std::function<void()> iteration, loop_state* state, bool /*graph*/,
         int /*at_a_time*/ = 1)
        : iteration_(std::move(iteration)), state_(state) {}
    void run() {
        while (state_->is_running()) iteration_();
    }
    [[nodiscard]] bool in_graph() const { return false; }

  private:
    std::function<void()> iteration_;
    loop_state* state_;
};

template <>
class loop<gpu> {
  public:
    /// Captures the iteration in a graph where asked to and possible, as it is launched in
    /// on.stream; the state must be written before. `at_a_time` iterations make one pass of the
    /// graph, or are launched at once where there is none. Where products are cheap, fewer starts
    /// of passes pay, although the last pass may hold some no-op iterations. Without a graph all
    /// ranks of on.ranks launch as many iterations.
    loop(gpu on, std::function<void()> iteration, loop_state* state, bool graph, int at_a_time = 1);
    ~loop();
    loop(const loop&) = delete;
    loop& operator=(const loop&) = delete;
    /// Returns when it is over; the state goes on at first. Throws device_error.
    void run();
    [[nodiscard]] bool in_graph() const { return runnable_ != nullptr; }

  private:
    struct watch;  ///< how the CPU looks in where the GPU cannot decide

    void capture();
    void drop_graph();
    void run_watched();
    void launch(std::int64_t iterations);

    gpu on_;
    std::function<void()> iteration_;
    loop_state* state_;
    int at_a_time_ = 1;
    void* runnable_ = nullptr;  ///< a cudaGraphExec_t
    bool loops_ = false;        ///< it holds a while node, not at_a_time_ iterations
    std::unique_ptr<watch> watch_;
};

}  // namespace nz
