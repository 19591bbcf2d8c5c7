// The reports of systems that are solved in step, and what decides when each of them has ended.
#pragma once

#include <vector>

#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

/// A system's report so far. x is its solution as the caller has it.
struct column_report {
    solve_report report;
    double target2 = 0;                                            ///< |b - A x|^2 to reach
    double best2 = std::numeric_limits<double>::infinity();        ///< of x
    double last_claim2 = std::numeric_limits<double>::infinity();  ///< x's where it claimed that
    bool is_final = false;                                         ///< else it is solved alone

    void end(status why);
    /// Whether iterations that ended by `why` with this squared residual lost their way: alone the
    /// system may do better from its x so far, or tells why not.
    [[nodiscard]] bool is_astray(status why, double residual2) const;
    /// Whether a solution with this squared residual is to take x's place.
    bool improves_by(double residual2);
    /// Ends it if it may, now that x is the best so far. True where it only seemed to have
    /// converged and may do better.
    bool is_to_go_on(status why, double residual2);
};

/// The scalars of a method's systems, whatever else they have.
template <class S>
std::vector<krylov_state*> states_of(std::vector<S>& all) {
    std::vector<krylov_state*> states;
    for (S& one : all) states.push_back(&one);
    return states;
}
using krylov_states = std::vector<krylov_state*>;

class column_reports {
  public:
    /// Iterations between two writes of the scalars, at most.
    static constexpr std::int64_t batch = 64;

    /// o must outlive it.
    column_reports(const solve_options& o, double tol, index count)
        : of(std::size_t(count)), options_(o), tol_(tol) {}

    /// Whether system c iterates from here on, by its scalars, which know |b - A x|; else it has
    /// ended, or does not suit iterations.
    bool start(index c, krylov_state&);
    [[nodiscard]] bool may_iterate(const column_report& one) const {
        return one.report.iterations < options_.max_iter;
    }
    /// Notes an iteration of all, whose largest relative residual is given. Why all end, if they
    /// do.
    status after_iteration(double largest);

    struct course {
        std::vector<index> ended, running;  ///< places in the block
        bool is_paused;                     ///< one waits for its scalars to be written
    };
    /// Notes an iteration of a block, which holds these systems.
    course after_iteration(const std::vector<index>& which, const krylov_states&);
    /// Has all pause after the next batch.
    void pause_later(const krylov_states&) const;
    [[nodiscard]] double seconds() const { return seconds_since(start_); }

    std::vector<column_report> of;
    bool stopped = false;  ///< by the caller

  private:
    const solve_options& options_;
    double tol_;
    steady_clock::time_point start_ = steady_clock::now();
    std::int64_t iterations_ = 0;
};

}  // namespace nz
