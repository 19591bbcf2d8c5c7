#include "nonzero/solve/krylov/report.hpp"

namespace nz {

namespace {
constexpr std::string_view status_names[] = {"running",
                                             "converged",
                                             "indefinite-matrix",
                                             "indefinite-preconditioner",
                                             "breakdown",
                                             "singular-matrix",
                                             "diverged",
                                             "not-finite",
                                             "not-finite-at-start",
                                             "limited-by-rounding",
                                             "stagnated",
                                             "no-longer-halves",
                                             "too-slow",
                                             "overflow",
                                             "underflow",
                                             "max-iter",
                                             "max-seconds",
                                             "max-products",
                                             "stopped-by-caller",
                                             "whole-space",
                                             "no-direction",
                                             "failed"};
static_assert(std::size(status_names) == std::size_t(status::failed) + 1);
}  // namespace

std::string_view name_of(status s) { return status_names[std::size_t(s)]; }

namespace {

std::string describe(status s) {
    switch (s) {
        case status::converged:
            return "converged";
        case status::indefinite_matrix:
            return "A is not positive definite: (p, A p) is not positive for a direction p";
        case status::indefinite_preconditioner:
            return "the preconditioner M is not positive definite: (r, M r) is not positive for a "
                   "residual r";
        case status::breakdown:
            return "broke down: a scalar product to divide by is zero";
        case status::singular_matrix:
            return "A is singular, or too close to it for this method: no direction is left that "
                   "reduces b - A x";
        case status::diverged:
            return "diverged: the residual grew to a million times its least";
        case status::not_finite:
            return "a product of A or M, or a sum, is not finite";
        case status::not_finite_at_start:
            return "b, or b - A x at the start, is not finite";
        case status::limited_by_rounding:
            return "the true residual stays above what rounding errors allow";
        case status::no_longer_halves:
            return "the residual no longer halves";
        case status::too_slow:
            return "the residual falls too slowly to be worth more iterations";
        case status::overflow:
            return "the solution overflows: numbers of x are beyond the largest of their type";
        case status::underflow:
            return "the solution is so small that its denormal numbers are too coarse for tol";
        case status::max_iter:
            return "max_iter iterations were spent";
        case status::max_seconds:
            return "max_seconds were spent";
        case status::stopped_by_caller:
            return "stopped by the caller";
        default:
            return std::string(name_of(s));
    }
}

}  // namespace

void solve_report::end_by(nz::status s, std::string sentence) {
    status = s;
    why = sentence.empty() ? describe(s) : std::move(sentence);
    converged = s == nz::status::converged;
}

}  // namespace nz
