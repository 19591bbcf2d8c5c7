#include "nonzero/solve/krylov/columns/column_reports.hpp"

#include <algorithm>
#include <cmath>

namespace nz {
namespace {

/// Whether the options ended it.
bool is_spent(status why) { return why >= status::max_iter && why <= status::stopped_by_caller; }

}  // namespace

void column_report::end(status why) {
    report.residual_norm = std::sqrt(best2);
    report.relative = report.residual_norm / report.rhs_norm;
    report.end_by(why);
    is_final = true;
}

bool column_report::is_astray(status why, double residual2) const {
    return why != status::converged && why != status::stagnated && !is_spent(why) &&
           !(residual2 <= target2);
}

bool column_report::improves_by(double residual2) {
    if (!(residual2 <= best2)) return false;
    best2 = residual2;
    return true;
}

bool column_report::is_to_go_on(status why, double residual2) {
    if (best2 <= target2) {
        end(status::converged);
    } else if (is_spent(why)) {
        end(why);
    } else if (why == status::converged && !(residual2 <= last_claim2 / 4)) {
        end(status::limited_by_rounding);
    } else if (why == status::converged) {
        last_claim2 = residual2;
        return true;
    }
    return false;
}

bool column_reports::start(index c, krylov_state& s) {
    if (!suits_iterations(s)) return false;
    column_report& one = of[std::size_t(c)];
    one.target2 = s.target2 = tol_ * tol_ * s.rhs2;
    one.best2 = s.residual2;
    s.iterations = s.history_from = one.report.iterations;
    s.pause_at = std::min(options_.max_iter, s.iterations + batch);
    if (one.report.history.empty()) {
        one.report.rhs_norm = std::sqrt(s.rhs2);
        one.report.history.push_back(std::sqrt(s.residual2) / one.report.rhs_norm);
    }
    if (s.residual2 <= s.target2) {
        one.end(status::converged);
    } else if (!may_iterate(one)) {
        one.end(status::max_iter);
    }
    return !one.is_final;
}

status column_reports::after_iteration(double largest) {
    ++iterations_;
    if (options_.monitor && !options_.monitor(iterations_, largest)) stopped = true;
    if (stopped) return status::stopped_by_caller;
    return seconds() >= options_.max_seconds ? status::max_seconds : status::running;
}

column_reports::course column_reports::after_iteration(const std::vector<index>& which,
                                                       const krylov_states& states) {
    double largest = 0;
    for (std::size_t k = 0; k < which.size(); ++k) {
        solve_report& r = of[std::size_t(which[k])].report;
        if (states[k]->iterations == r.iterations) continue;
        r.iterations = states[k]->iterations;
        r.history.push_back(std::sqrt(states[k]->residual2) / r.rhs_norm);
        largest = std::max(largest, r.history.back());
    }
    const status all = after_iteration(largest);
    course now{};
    for (std::size_t k = 0; k < which.size(); ++k) {
        krylov_state& s = *states[k];
        if (s.now == status::running)
            s.now = s.iterations >= options_.max_iter ? status::max_iter : all;
        (s.now == status::running ? now.running : now.ended).push_back(index(k));
        now.is_paused |= s.now == status::running && s.iterations == s.pause_at;
    }
    return now;
}

void column_reports::pause_later(const krylov_states& states) const {
    for (krylov_state* const s : states) {
        s->history_from = s->iterations;
        s->pause_at = std::min(options_.max_iter, s->iterations + batch);
    }
}

}  // namespace nz
