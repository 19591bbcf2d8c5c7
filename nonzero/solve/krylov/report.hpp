// Options and report of an iterative solver. Not converging is a value, no exception.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/value.hpp"

namespace nz {

/// How iterations stand, and in the end why there are no more.
enum class status : int {
    running,
    converged,
    indefinite_matrix,          ///< (p, A p) is not positive
    indefinite_preconditioner,  ///< (r, M r) is not positive
    breakdown,                  ///< a scalar to divide by is zero
    singular_matrix,            ///< the rest of b is no product of A
    diverged,                   ///< the residual has grown far beyond its least
    not_finite,                 ///< NaN or Inf in a sum
    not_finite_at_start,        ///< NaN or Inf in b, the guess, or A times it
    limited_by_rounding,        ///< the true residual stays above tol
    stagnated,                  ///< a cycle of gmres did not reduce the residual
    no_longer_halves,           ///< another method takes over
    too_slow,                   ///< another method takes over
    overflow,                   ///< the result is beyond the largest number
    underflow,                  ///< the solution is among the denormal numbers
    max_iter,                   ///< spent, as the next two
    max_seconds,
    max_products,
    stopped_by_caller,
    whole_space,   ///< the basis of eigs is all that there is
    no_direction,  ///< nothing is left that is independent of that basis
    failed,        ///< something threw
};
/// Its name, as JSON and Python have it.
std::string_view name_of(status);

struct solve_options {
    /// The tolerance where none is given, of solvers and of eigs: what rounding lets all of them
    /// reach.
    template <class V>
    static constexpr double default_tol = std::numeric_limits<real<V>>::epsilon() < 1e-10 ? 1e-8
                                                                                          : 1e-5;

    /// Tolerance of the relative residual, |b - A x| / |b|; without, default_tol.
    std::optional<double> tol = {};
    std::int64_t max_iter = 10000;  ///< at most
    /// The solver ends between two iterations when that long has passed since the call  [s]. Which
    /// iteration that is differs from run to run.
    double max_seconds = std::numeric_limits<double>::infinity();
    /// Iterations after which b - A x takes the place of the residual carried along, whose rounding
    /// errors add up; 0: only where it seems to have converged.
    std::int64_t replace_every = 0;
    /// Called in order for each iteration with its relative residual, on a GPU in batches; false
    /// stops the solver.
    std::function<bool(std::int64_t iteration, double residual)> monitor = {};
    /// On a GPU: iterations as a CUDA graph, where on.stream is not the default stream and what A
    /// and M launch can be captured. Without, or where they keep count on the CPU, kernel by
    /// kernel.
    bool graph = true;

    template <class V>
    [[nodiscard]] double tol_of() const {
        return tol.value_or(default_tol<V>);
    }
};

struct solve_report {
    bool converged = false;  ///< |b - A x| <= tol |b|, with b - A x computed at the end
    nz::status status = nz::status::running;  ///< why it ended
    std::string why;                          ///< the same, in one sentence
    std::int64_t iterations = 0;              ///< in all
    std::int64_t inner_iterations = 0;        ///< of the solver that is a preconditioner, of refine
    double residual_norm = 0;                 ///< |b - A x| at the end, of the x that is returned
    double rhs_norm = 0;                      ///< |b|; infinite where that is beyond double
    double relative = 0;                      ///< |b - A x| / |b|, finite also then; 0 where b is
    /// Relative residuals, at the start and after each iteration, as the method carries them along:
    /// rounding errors part them from |b - A x|, and `relative` alone is computed from x.
    std::vector<double> history;
    bool in_graph = false;    ///< the iterations ran in a CUDA graph
    double setup_s = 0;       ///< making vectors and graph                                [s]
    double iterations_s = 0;  ///< the iterations alone                                    [s]

    /// Sets status, why and converged. sentence: where it tells more than the status alone.
    void end_by(nz::status, std::string sentence = {});
    [[nodiscard]] double relative_residual() const { return relative; }
    [[nodiscard]] double iteration_s() const {
        return iterations > 0 ? iterations_s / double(iterations) : 0;
    }
};

}  // namespace nz
