// A system that is ready to be solved: its matrix, what decides about it, what one solve leaves.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/own_backend.hpp"
#include "nonzero/solve/attempts.hpp"
#include "nonzero/solve/columns_in_step.hpp"
#include "nonzero/solve/own_preconditioner.hpp"
#include "nonzero/solve/refinement.hpp"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {

/// Negates A and its diagonal where the diagonal is negative throughout; whether it is.
template <class V, class Matrix>
bool negate_where_negative(Matrix& A, host_vector<V>& diagonal) {
    const auto is_below_0 = [](V d) { return std::real(d) < 0; };
    if (!on_all(A.ranks(), std::ranges::all_of(diagonal, is_below_0)) || A.rows() == 0)
        return false;
    agree(A.ranks(), [&] { A.negate(), negate<V>(diagonal); });
    return true;
}

/// Whether a symbolic factorization comes before all else, as it takes no longer than iterations
/// that converge do.
inline bool is_small(const matrix_facts& f) {
    const bool iterations_are_many = f.zero_on_diagonal >= 0;
    return !f.why_not_definite.empty() && f.entries <= (iterations_are_many ? 2e6 : 2e5);
}

/// Among those left, by its forecast; last where it has none, as where A is structurally singular:
/// then it tells why.
template <class V, class Matrix>
void place_direct(Matrix& A, std::vector<choice>& left, const matrix_facts& f,
                  const system_options& o, system_report& report) {
    factor_forecast of_A{.is_complete = false};
    try {
        of_A = A.forecast(o);
    } catch (const std::exception& e) {  // the attempt will say so
        if (A.ranks() != nullptr && dynamic_cast<const agreed_error*>(&e) == nullptr) throw;
    }
    report.reasons.push_back(nz::place_direct(left, f, of_A));
}

/// The direct solver's. Throws unavailable where it would take more seconds than are left.
template <class V, class B, class Matrix>
std::unique_ptr<linear_operator<V, B>> inverse(Matrix& A, const system_options& o,
                                               steady_clock::time_point start,
                                               system_report::attempt& told) {
    told.forecast = A.forecast(o);
    const double seconds = told.predicted_s = told.forecast->seconds;
    double left = o.max_seconds - seconds_since(start);
    if (A.ranks() != nullptr) left = gathered(*A.ranks(), left).front();
    if (!(seconds > left)) return A.inverse(told);
    throw unavailable(fmt::format("direct: it would take {:.3g} s, and {:.3g} s are left", seconds,
                                  std::max(left, 0.0)));
}

/// Who asks for a solve after one: no one, another right-hand side, or one of other values of A.
enum class to_follow { nothing, right_hand_sides, matrices };

/// A matrix, the facts that decide about its system, and what one solve leaves for the next.
template <class V, class B, class Matrix>
class prepared_system {
  public:
    prepared_system(B on, Matrix A, host_vector<V> diagonal, const system_options& o,
                    to_follow follows)
        : on_(on), A_(std::move(A)), o_(o), follows_(follows) {
        look(std::move(diagonal));
    }
    /// The arguments are checked.
    system_report solve(std::span<const V> b, std::span<V> x, steady_clock::time_point start) {
        return solve(b, x, start, o_);
    }
    /// Several right-hand sides: in step where the method suits that, else one after the other. The
    /// arguments are checked.
    std::vector<system_report> solve_columns(const in_columns<V, cpu>& b,
                                             const out_columns<V, cpu>& x,
                                             steady_clock::time_point start) {
        std::vector<system_report> reports(std::size_t(b.count));
        system_options o = o_;
        bool stops = false;  // as the monitor has said
        if (o_.monitor)
            o.monitor = [&](std::int64_t k, double r) {
                stops |= !o_.monitor(k, r);
                return !stops;
            };
        const auto planning = steady_clock::now();
        if (b.count > 1 && A_.plan_for_several() && dynamic_cast<amg<V, B>*>(kept_.get()))
            kept_.reset();  // it multiplies by the product before
        const double plan_s = seconds_since(planning);
        for (index c = 0; c < b.count && !stops;) {
            const index count = std::min(most_columns, b.count - c);
            auto in_step = count > 1
                               ? step_together(some_of(b, c, count), some_of(x, c, count), start, o)
                               : std::vector<system_report>();
            // Without, the first alone finds the method of the others.
            if (in_step.empty()) in_step.resize(1);
            for (system_report& report : in_step) {
                if (!stops && (report.attempts.empty() || !report.converged()))
                    go_on_alone(b, x, c, start, o, report);
                reports[std::size_t(c++)] = std::move(report);
            }
        }
        for (auto& report : reports) {
            report.plan_s += plan_s;
            if (report.attempts.empty()) report.attempts.push_back(not_tried());
        }
        return reports;
    }
    /// The values that the matrix has now.
    void take_values(host_vector<V> diagonal) {
        A_.take_values();
        look(std::move(diagonal));
        if (!A_.has_product()) return;
        try {
            if (!A_.update(kept_.get())) kept_.reset();
        } catch (const std::exception&) {  // the next solve makes both anew, or tells why not
            kept_.reset();
            A_.drop_product();
        }
    }

  private:
    using op = linear_operator<V, B>;

    /// o: with the monitor that this solve asks.
    system_report solve(std::span<const V> given_b, std::span<V> x, steady_clock::time_point start,
                        const system_options& o) {
        system_report report;
        report.negated = negated_;
        host_vector<V> minus_b;
        if (negated_)
            agree(A_.ranks(),
                  [&] { minus_b.assign(given_b.begin(), given_b.end()), negate<V>(minus_b); });
        const std::span<const V> b = negated_ ? minus_b : given_b;
        auto choices = choices_for(facts_, o_);
        report.reasons = sentences_of(facts_, A_.rows());
        limit_first(choices);
        const choice opening = choices.front();
        if (winner_)
            choices.insert(choices.begin(), *winner_);
        else if (direct_at_once())
            place_direct<V>(A_, choices, facts_, o_, report);
        const auto planning = steady_clock::now();
        if (!A_.has_product()) A_.build_product(choices.size() == 1 ? &choices.front() : nullptr);
        report.product = A_.product_name();
        report.plan_s = seconds_since(planning);
        bool kept_is_left = kept_ != nullptr;
        const auto make = [&](const choice& c, bool last, system_report::attempt& told) {
            if (std::exchange(kept_is_left, false)) return lent(kept_);
            auto M = made(c, last, start, told);
            if (!keeps() || M == nullptr || c.method == krylov_method::refine) return M;
            last_made_ = std::move(M);
            return lent(last_made_);
        };
        const auto rounding = [&](std::span<const V> at) { return A_.rounding(b, at); };
        const auto reconsider = [&](std::vector<choice>& left) {
            this->reconsider(opening, left, report);
        };
        attempt_all<V, B>(on_, {A_.product(), b, x, make, rounding, reconsider, start},
                          std::move(choices), o, report);
        for (auto& a : report.attempts)
            if (a.method == krylov_method::refine) a.report.inner_iterations = inner_iterations_;
        if (keeps()) remember(report);
        if (report.converged()) return report;
        report.advice = A_.obstacles(diagonal_);
        std::ranges::move(advice_for(report, o_), std::back_inserter(report.advice));
        return report;
    }
    [[nodiscard]] bool keeps() const { return follows_ != to_follow::nothing; }

    /// The choice that all right-hand sides begin with; none where one alone must find it.
    [[nodiscard]] std::optional<choice> choice_in_step() const {
        auto choices = choices_for(facts_, o_);
        limit_first(choices);
        if (winner_) return goes_in_step(winner_->method) ? winner_ : std::nullopt;
        const choice& opening = choices.front();
        const bool is_sure = opening.method == krylov_method::cg || choices.size() == 1;
        return is_sure && goes_in_step(opening.method) ? std::optional(opening) : std::nullopt;
    }
    /// One attempt for all, of up to most_columns; empty where there is none. x of those that it
    /// has not solved is no worse than before.
    std::vector<system_report> step_together(const in_columns<V, cpu>& b,
                                             const out_columns<V, cpu>& x,
                                             steady_clock::time_point start,
                                             const system_options& o) {
        const auto c = choice_in_step();
        if (!c) return {};
        system_report all;
        all.negated = negated_, all.reasons = sentences_of(facts_, A_.rows());
        system_report::attempt told{c->method, c->preconditioner, {}};
        all.product = A_.product_name();
        const auto preparing = steady_clock::now();
        std::shared_ptr<op> M = kept_;
        if (M == nullptr) try {
                M = made(*c, false, start, told);
            } catch (const std::exception&) {
                return {};  // alone each tells why
            }
        told.preconditioner_s = seconds_since(preparing);
        const auto iterating = steady_clock::now();
        const auto found = iterate_together(*c, M.get(), b, x, start, o);
        told.solve_s = seconds_since(iterating);
        remember_of_several(*c, M, found);
        std::vector<system_report> reports(found.size(), all);
        for (std::size_t k = 0; k < found.size(); ++k) {
            told.report = found[k];
            reports[k].attempts.push_back(told);
        }
        return reports;
    }
    std::vector<solve_report> iterate_together(const choice& c, const op* M,
                                               const in_columns<V, cpu>& b,
                                               const out_columns<V, cpu>& x,
                                               steady_clock::time_point start, gmres_options o) {
        const auto n = std::size_t(A_.rows()), count = std::size_t(b.count);
        host_vector<V> rhs(n * count), solution(n * count);
        const out_columns<V, cpu> to_rhs{rhs, count, b.count, storage_order::row_major};
        const out_columns<V, cpu> to_solution{solution, count, b.count, storage_order::row_major};
        for (index k = 0; k < b.count; ++k) {
            put<V>(taken<V>(b, k, n), k, to_rhs);
            put<V>(taken<V>(x, k, n), k, to_solution);
        }
        if (negated_) negate<V>(rhs);
        o.max_iter = std::min(o.max_iter, c.most_iterations);
        o.max_seconds = std::max(0.0, o.max_seconds - seconds_since(start));
        const auto b_there = from_host(on_, std::span<const V>(rhs));
        auto x_there = from_host(on_, std::span<const V>(solution));
        const in_columns<V, B> from{b_there, count, b.count, storage_order::row_major};
        const out_columns<V, B> to{x_there, count, b.count, storage_order::row_major};
        const auto reports = solve_in_step<V, B>(c.method, on_, A_.product(), M, from, to, o);
        const auto back = to_host<V>(on_, in<V, B>(x_there));
        const in_columns<V, cpu> found{back, count, b.count, storage_order::row_major};
        for (index k = 0; k < b.count; ++k) put<V>(taken<V>(found, k, n), k, x);
        return reports;
    }
    /// As `remember`, by the right-hand side that took the most iterations.
    void remember_of_several(const choice& c, const std::shared_ptr<op>& M,
                             const std::vector<solve_report>& found) {
        const auto most = std::ranges::max_element(
            found, {}, [](const auto& r) { return r.converged ? r.iterations : -1; });
        if (!most->converged) return;
        system_report as_one;
        as_one.attempts.push_back({c.method, c.preconditioner, *most});
        if (kept_ == nullptr) last_made_ = M;
        remember(as_one);
    }
    /// Solves the right-hand side c from its x on; puts its attempts behind those that it has.
    void go_on_alone(const in_columns<V, cpu>& b, const out_columns<V, cpu>& x, index c,
                     steady_clock::time_point start, const system_options& o,
                     system_report& report) {
        const auto n = std::size_t(A_.rows());
        auto mine = taken<V>(x, c, n);
        auto alone = solve(taken<V>(b, c, n), mine, start, o);
        put<V>(mine, c, x);
        alone.best += report.attempts.size();
        std::ranges::move(alone.attempts, std::back_inserter(report.attempts));
        alone.attempts = std::move(report.attempts);
        report = std::move(alone);
    }
    /// For a right-hand side that the caller's monitor left no iteration to.
    [[nodiscard]] system_report::attempt not_tried() const {
        const choice c = winner_.value_or(choices_for(facts_, o_).front());
        system_report::attempt none{c.method, c.preconditioner, {}};
        none.report.end_by(status::stopped_by_caller);
        none.report.relative = std::numeric_limits<double>::infinity();
        return none;
    }

    void look(host_vector<V> diagonal) {
        negated_ = negate_where_negative(A_, diagonal);
        facts_ = A_.facts(diagonal);
        diagonal_ = std::move(diagonal);
    }
    [[nodiscard]] bool may_be_direct() const {
        return !o_.iterative && !o_.method && !o_.preconditioner;
    }
    [[nodiscard]] bool direct_at_once() const { return may_be_direct() && is_small(facts_); }

    /// At first, before others are thought of whose setup takes as long as some iterations.
    void limit_first(std::vector<choice>& choices) const {
        if (choices.size() < 2) return;
        if (facts_.why_not_definite.empty() && may_be_direct())
            choices.front().most_iterations = 1000;
        if (!facts_.why_not_definite.empty() && (may_be_direct() || !facts_.is_symmetric))
            choices.front().patience = 300;
        // The setup of blocks takes as long as many iterations.
        if (facts_.is_saddle) choices.front().most_iterations = 1000;
    }
    std::unique_ptr<op> made(const choice& c, bool last, steady_clock::time_point start,
                             system_report::attempt& told) {
        if (c.method == krylov_method::direct) return inverse<V, B>(A_, o_, start, told);
        told.predicted_s = iteration_seconds(c, facts_);
        if (c.method == krylov_method::refine)
            return inner_solver<V, B>(on_, A_, c, facts_, o_, start, inner_iterations_, told);
        if (c.preconditioner == preconditioning::amg)
            return A_.multigrid(o_, last, follows_ == to_follow::matrices);
        std::unique_ptr<op> M;
        A_.take_block(c);
        agree(A_.ranks(), [&] {
            const B here = A_.ranks() == nullptr ? on_ : alone(on_);
            M = own_preconditioner<V>(here, A_, c, diagonal_, o_, told);
        });
        return A_.joined(std::move(M), c);
    }
    /// M for an attempt, which gives back what it was lent.
    std::unique_ptr<op> lent(const std::shared_ptr<op>& M) const {
        auto applied = make_operator<V>(
            on_, M->shape(), [M](in<V, B> r, out<V, B> z) { M->apply(V(1), r, V(0), z); });
        return std::make_unique<decltype(applied)>(std::move(applied));
    }
    void reconsider(const choice& opening, std::vector<choice>& left, system_report& report) {
        const bool goes_on = left.size() > 0 && left.front().method == opening.method &&
                             left.front().preconditioner == opening.preconditioner;
        // Short recurrences have little hold where A is not symmetric: first it is ilut's turn. A
        // block preconditioner's on any.
        const auto comes_before = [&](const choice& c) {
            return c.preconditioner == preconditioning::saddle ||
                   (!facts_.is_symmetric && c.preconditioner == preconditioning::ilut);
        };
        if (goes_on)
            std::rotate(left.begin(), left.begin() + 1,
                        std::find_if_not(left.begin() + 1, left.end(), comes_before));
        if (!may_be_direct() || direct_at_once()) return;
        // Others' turn comes where cg has failed otherwise than by its iterations.
        if (facts_.why_not_definite.empty() && !goes_on)
            left.push_back({krylov_method::direct, preconditioning::none});
        else
            place_direct<V>(A_, left, facts_, o_, report);
    }
    /// Keeps what has converged, until it takes half as many iterations again as at first.
    void remember(const system_report& report) {
        constexpr double many_more = 1.5;
        const auto made_now = std::exchange(last_made_, {});
        if (!report.converged()) return;
        const auto& [method, preconditioner] =
            std::tie(report.result().method, report.result().preconditioner);
        const auto iterations = report.result().report.iterations;
        const bool is_another = !winner_ || winner_->method != method ||
                                winner_->preconditioner != preconditioner || kept_ == nullptr ||
                                report.attempts.size() > 1;
        if (is_another) {
            winner_ = choice{method, preconditioner};
            kept_ = made_now, first_iterations_ = iterations;
        } else if (double(iterations) > many_more * double(first_iterations_)) {
            kept_.reset();
        }
    }

    B on_;
    Matrix A_;
    system_options o_;
    to_follow follows_;
    bool negated_ = false;
    host_vector<V> diagonal_;
    matrix_facts facts_;
    std::int64_t inner_iterations_ = 0;
    // From one solve to the next:
    std::optional<choice> winner_;          ///< which has converged
    std::shared_ptr<op> kept_, last_made_;  ///< its preconditioner; what the last attempt made
    std::int64_t first_iterations_ = 0;     ///< with `kept_` as it was made
};

}  // namespace nz
