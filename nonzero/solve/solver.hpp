// A solver that is kept over a sequence of systems.
#pragma once

#include <memory>

#include "nonzero/solve/solve.hpp"

namespace nz {

/// Systems A x = b whose matrices have one pattern: steps in time, of Newton's method, of loads. It
/// keeps what `solve` makes anew for each: a copy of A, the plan, the method that has converged and
/// its preconditioner.
///
///     nz::solver<double> s(nz::cpu{}, view(A));
///     for (auto& step : steps) {
///         s.take_values(view(step.A));
///         s.solve(step.b, x);  // from the x before
///     }
///
/// The first solve tries what `nz::solve` tries, in the same order, but for its probes: what takes
/// longer to make and fewer iterations pays over many solves. Those that follow begin with
/// what has converged, and try the others where it does not any more. Multigrid takes other values
/// as amg::take_values does; other preconditioners are made anew at the next solve, from the
/// patterns up. Where solves take over 1.5 times the iterations that the preconditioner took when
/// it was new, and together have taken 20 more than that, the next solve makes it anew.
///
/// Made of a matrix in the GPU's memory it keeps its copy there, and solves as `nz::solve` does of
/// what lies there. Vectors and values may lie on the CPU or on that GPU in any case; they are
/// copied where they lie elsewhere than the matrix.
///
/// Deterministic as `nz::solve` is; a solve depends on those before it by what they have left, and
/// by x. Calls from several threads take turns.
template <class V, class B = cpu>
class solver {
  public:
    /// Throws as `nz::solve`; argument_error where on.ranks is not null.
    solver(B on, const csr<V, host_view>& A, const system_options& = {});
    solver(B on, const csr<V, host>& A, const system_options& o = {}) : solver(on, view(A), o) {}
    /// Of real values; throws unavailable for others.
    solver(B on, const csr<V, device_view>& A,
           const system_options& = {}) requires std::is_same_v<B, gpu>;
    ~solver();
    solver(solver&&) noexcept;

    /// As `nz::solve`: x is the guess on entry, the best solution found afterwards.
    system_report solve(std::span<const V> b, std::span<V> x);
    /// The same for several b, as `nz::solve` has it: once one of them is solved, all go in step
    /// where the method suits that. The first such call plans the product anew.
    std::vector<system_report> solve(in_columns<V, cpu> b, out_columns<V, cpu> x);
    /// Of vectors in the GPU's memory, in the stream that this was made with.
    system_report solve(device_span<V> b, device_out<V> x) requires std::is_same_v<B, gpu>;
    std::vector<system_report> solve(in_columns<V, gpu> b,
                                     out_columns<V, gpu> x) requires std::is_same_v<B, gpu>;
    /// The values of A, whose pattern is that of the first one; its rows may stand in any order.
    /// Throws argument_error where the pattern is another: nothing has changed then. After anything
    /// else that it throws, such as out_of_memory, the next solve makes anew what is missing.
    void take_values(const csr<V, host_view>& A);
    void take_values(const csr<V, host>& A) { take_values(view(A)); }
    void take_values(const csr<V, device_view>& A) requires std::is_same_v<B, gpu>;

  private:
    struct state;
    std::unique_ptr<state> state_;
};

}  // namespace nz
