#include "nonzero/solve/prepared_system.hpp"

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

template <class V, class B, class Matrix>
prepared_system<V, B, Matrix>::prepared_system(B on, Matrix A, const system_options& o,
                                               to_follow follows)
    : on_(on), A_(std::move(A)), o_(o), follows_(follows) {
    look();
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::take_values() {
    A_.take_values();
    look();
    if (!A_.has_product()) return;
    try {
        if (!A_.update(kept_.get())) kept_.reset();
    } catch (const std::exception&) {  // the next solve makes both anew, or tells why not
        kept_.reset();
        A_.drop_product();
    }
}

template <class V, class B, class Matrix>
system_report prepared_system<V, B, Matrix>::solve(in<V, B> given_b, out<V, B> x,
                                                   steady_clock::time_point start,
                                                   const system_options& o) {
    system_report report;
    report.negated = negated_;
    vector<V, B> minus_b;
    if (negated_)
        agree(A_.ranks(), [&] { minus_b = copied<V>(on_, given_b), negate<V>(on_, minus_b); });
    const in<V, B> b = negated_ ? in<V, B>(minus_b) : given_b;
    auto choices = choices_for(facts_, o_);
    report.reasons = sentences_of(facts_, A_.rows());
    limit_first(choices);
    const choice opening = choices.front();
    const auto detours = A_.detours().size();
    if (winner_)
        choices.insert(choices.begin(), *winner_);
    else if (!put_probes(choices, report) && direct_at_once())
        put_direct(choices, report);
    const auto planning = steady_clock::now();
    const bool is_small = follows_ == to_follow::nothing && facts_.entries <= small_entries;
    if (!A_.has_product())
        A_.build_product(choices.size() == 1 ? &choices.front() : nullptr, is_small);
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
    const auto rounding = [&](in<V, B> at) { return A_.rounding(b, at); };
    const auto reconsider = [&](const choice& failed, std::vector<choice>& left) {
        if (!failed.is_probe)
            this->reconsider(opening, left, report);
        else if (direct_at_once())
            put_direct(left, report);
    };
    attempt_all<V, B>(on_, {A_.product(), b, x, make, rounding, reconsider, start},
                      std::move(choices), o, report);
    for (auto& a : report.attempts)
        if (a.method == krylov_method::refine) a.report.inner_iterations = inner_iterations_;
    if (keeps()) remember(report);
    if (!report.converged()) {
        report.advice = A_.obstacles();
        std::ranges::move(advice_for(report, o_), std::back_inserter(report.advice));
    }
    const auto& all = A_.detours();
    report.reasons.insert(report.reasons.end(), all.begin() + std::ptrdiff_t(detours), all.end());
    return report;
}

template <class V, class B, class Matrix>
template <class P>
std::vector<system_report> prepared_system<V, B, Matrix>::solve_columns(
    const in_columns<V, P>& b, const out_columns<V, P>& x, steady_clock::time_point start) {
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
                           ? step_together<P>(some_of(b, c, count), some_of(x, c, count), start, o)
                           : std::vector<system_report>();
        // Without, the first alone finds the method of the others.
        if (in_step.empty()) in_step.resize(1);
        for (system_report& report : in_step) {
            if (!stops && (report.attempts.empty() || !report.converged()))
                go_on_alone<P>(b, x, c, start, o, report);
            reports[std::size_t(c++)] = std::move(report);
        }
    }
    for (auto& report : reports) {
        report.plan_s += plan_s;
        if (report.attempts.empty()) report.attempts.push_back(not_tried());
    }
    return reports;
}

template <class V, class B, class Matrix>
std::optional<choice> prepared_system<V, B, Matrix>::choice_in_step() const {
    auto choices = choices_for(facts_, o_);
    limit_first(choices);
    if (winner_) return goes_in_step(winner_->method) ? winner_ : std::nullopt;
    const choice& opening = choices.front();
    const bool is_sure = opening.method == krylov_method::cg || choices.size() == 1;
    return is_sure && goes_in_step(opening.method) ? std::optional(opening) : std::nullopt;
}

template <class V, class B, class Matrix>
template <class P>
std::vector<system_report> prepared_system<V, B, Matrix>::step_together(
    const in_columns<V, P>& b, const out_columns<V, P>& x, steady_clock::time_point start,
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
    const auto found = iterate_together<P>(*c, M.get(), b, x, start, o);
    told.solve_s = seconds_since(iterating);
    remember_of_several(*c, M, found);
    std::vector<system_report> reports(found.size(), all);
    for (std::size_t k = 0; k < found.size(); ++k) {
        told.report = found[k];
        reports[k].attempts.push_back(told);
    }
    return reports;
}

template <class V, class B, class Matrix>
template <class P>
std::vector<solve_report> prepared_system<V, B, Matrix>::iterate_together(
    const choice& c, const op* M, const in_columns<V, P>& b, const out_columns<V, P>& x,
    steady_clock::time_point start, system_options o) {
    const auto n = std::size_t(A_.rows());
    vector<V, B> rhs = rows_of<V>(on_, b, n);
    vector<V, B> solution =
        rows_of<V>(on_, in_columns<V, P>{x.values, x.stride, x.count, x.order}, n);
    if (negated_) negate<V>(on_, rhs);
    o.max_iter = std::min(o.max_iter, c.most_iterations);
    o.max_seconds = std::max(0.0, o.max_seconds - seconds_since(start));
    auto reports =
        solve_in_step<V, B>(c.method, on_, A_.product(), M, as_rows<in<V, B>>(rhs, b.count),
                            as_rows<out<V, B>>(solution, b.count), o);
    put_rows<V>(on_, solution, x, n);
    return reports;
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::remember_of_several(const choice& c,
                                                        const std::shared_ptr<op>& M,
                                                        const std::vector<solve_report>& found) {
    const auto most = std::ranges::max_element(
        found, {}, [](const auto& r) { return r.converged ? r.iterations : -1; });
    if (!most->converged) return;
    system_report as_one;
    as_one.attempts.push_back({c.method, c.preconditioner, *most});
    if (kept_ == nullptr) last_made_ = M;
    remember(as_one);
}

template <class V, class B, class Matrix>
template <class P>
void prepared_system<V, B, Matrix>::go_on_alone(const in_columns<V, P>& b,
                                                const out_columns<V, P>& x, index c,
                                                steady_clock::time_point start,
                                                const system_options& o, system_report& report) {
    const auto n = std::size_t(A_.rows());
    const auto to = some_of(x, c, 1);
    const vector<V, B> rhs = rows_of<V>(on_, some_of(b, c, 1), n);
    vector<V, B> mine = rows_of<V>(on_, in_columns<V, P>{to.values, to.stride, 1, to.order}, n);
    auto alone = solve(rhs, mine, start, o);
    put_rows<V>(on_, mine, to, n);
    alone.best += report.attempts.size();
    std::ranges::move(alone.attempts, std::back_inserter(report.attempts));
    alone.attempts = std::move(report.attempts);
    report = std::move(alone);
}

template <class V, class B, class Matrix>
system_report::attempt prepared_system<V, B, Matrix>::not_tried() const {
    const choice c = winner_.value_or(choices_for(facts_, o_).front());
    system_report::attempt none{c.method, c.preconditioner, {}};
    none.report.end_by(status::stopped_by_caller);
    none.report.relative = std::numeric_limits<double>::infinity();
    return none;
}

template <class V, class B, class Matrix>
bool prepared_system<V, B, Matrix>::direct_at_once() const {
    // Few iterations are seldom enough for an indefinite A without blocks.
    const bool iterations_are_many =
        facts_.zero_on_diagonal >= 0 || (may_probe() && !(facts_.is_symmetric && facts_.is_saddle));
    return may_be_direct() && !facts_.why_not_definite.empty() &&
           facts_.entries <= (iterations_are_many ? forecast_entries : small_entries);
}

template <class V, class B, class Matrix>
bool prepared_system<V, B, Matrix>::put_probes(std::vector<choice>& left,
                                               system_report& report) const {
    if (!may_probe()) return false;
    const auto probes = probes_for(facts_, o_);
    if (probes.empty()) return false;
    left.insert(left.begin(), probes.begin(), probes.end());
    report.reasons.push_back(sentence_of(probes));
    return true;
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::put_direct(std::vector<choice>& left, system_report& report) {
    factor_forecast of_A{.is_complete = false};
    try {
        of_A = A_.forecast(o_);
    } catch (const std::exception& e) {  // the attempt will say so
        if (A_.ranks() != nullptr && dynamic_cast<const agreed_error*>(&e) == nullptr) throw;
    }
    report.reasons.push_back(place_direct(left, facts_, of_A));
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::limit_first(std::vector<choice>& choices) const {
    if (choices.size() < 2) return;
    // Iterations that take about as long as a forecast, as one with amg takes as long as some seven
    // products. On a GPU, and over ranks, a thousand take no longer.
    constexpr std::int64_t with_amg = 60, of_minres = 300;
    const bool forecast_is_near =
        std::is_same_v<B, cpu> && A_.ranks() == nullptr && facts_.entries <= forecast_entries;
    choice& first = choices.front();
    first.is_paced = forecast_is_near && may_be_direct() && facts_.is_symmetric;
    if (facts_.why_not_definite.empty()) {
        if (may_be_direct()) first.most_iterations = first.is_paced ? with_amg : 1000;
        return;
    }
    if (may_be_direct() || !facts_.is_symmetric) first.patience = 300;
    // The setup of blocks takes as long as many iterations.
    if (facts_.is_saddle) first.most_iterations = 1000;
    if (first.is_paced) first.most_iterations = of_minres;
}

template <class V, class B, class Matrix>
auto prepared_system<V, B, Matrix>::made(const choice& c, bool last, steady_clock::time_point start,
                                         system_report::attempt& told) -> std::unique_ptr<op> {
    if (c.method == krylov_method::direct) return inverse(start, told);
    told.predicted_s = iteration_seconds(c, facts_);
    if (c.method == krylov_method::refine) {
        A_.take_block(c);
        return inner_solver<V, B>(on_, A_, c, facts_, o_, start, inner_iterations_, told);
    }
    if (c.preconditioner == preconditioning::amg) return multigrid(c, last);
    std::unique_ptr<op> M;
    A_.take_block(c);
    agree(A_.ranks(), [&] {
        const B here = A_.ranks() == nullptr ? on_ : alone(on_);
        M = own_preconditioner<V>(here, A_, c, o_, told);
    });
    return A_.joined(std::move(M), c);
}

template <class V, class B, class Matrix>
auto prepared_system<V, B, Matrix>::multigrid(const choice& c, bool last) -> std::unique_ptr<op> {
    const bool keep = follows_ == to_follow::matrices;
    // A GPU rounds levels for as long as one solve gains.
    const bool pays = std::is_same_v<B, cpu> || follows_ == to_follow::right_hand_sides;
    if constexpr (std::is_same_v<V, double> && !Matrix::is_over_ranks)
        if (pays && c.method == krylov_method::cg) try {
                return A_.multigrid(o_, last, keep, value_storage::single);
            } catch (const argument_error&) {  // perhaps of values that no float holds
            }
    return A_.multigrid(o_, last, keep, value_storage::exact);
}

template <class V, class B, class Matrix>
auto prepared_system<V, B, Matrix>::inverse(steady_clock::time_point start,
                                            system_report::attempt& told) -> std::unique_ptr<op> {
    told.forecast = A_.forecast(o_);
    const double seconds = told.predicted_s = told.forecast->seconds;
    double left = o_.max_seconds - seconds_since(start);
    if (A_.ranks() != nullptr) left = gathered(*A_.ranks(), left).front();
    if (!(seconds > left)) return A_.inverse(told);
    throw unavailable(fmt::format("direct: it would take {:.3g} s, and {:.3g} s are left", seconds,
                                  std::max(left, 0.0)));
}

template <class V, class B, class Matrix>
auto prepared_system<V, B, Matrix>::lent(const std::shared_ptr<op>& M) const
    -> std::unique_ptr<op> {
    auto applied = make_operator<V>(on_, M->shape(),
                                    [M](in<V, B> r, out<V, B> z) { M->apply(V(1), r, V(0), z); });
    return std::make_unique<decltype(applied)>(std::move(applied));
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::reconsider(const choice& opening, std::vector<choice>& left,
                                               system_report& report) {
    const bool goes_on = !left.empty() && left.front().method == opening.method &&
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
    // Of a large A it is others' turn where cg has failed otherwise than by its iterations.
    if (facts_.why_not_definite.empty() && !goes_on && facts_.entries > forecast_entries)
        left.push_back({krylov_method::direct, preconditioning::none});
    else
        put_direct(left, report);
}

template <class V, class B, class Matrix>
void prepared_system<V, B, Matrix>::remember(const system_report& report) {
    // A setup takes longer than new values by about 20 iterations for most problems of amg_bench,
    // by 3 to 78 for all (bench/results/{h200,xeon-2}/amg/values.json). It gains nothing where
    // matrices are easy and hard in turns.
    constexpr double many_more = 1.5;
    constexpr std::int64_t iterations_of_setup = 20;
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
        kept_ = made_now, first_iterations_ = iterations, lost_iterations_ = 0;
    } else if (double(iterations) > many_more * double(first_iterations_)) {
        lost_iterations_ += iterations - first_iterations_;
        if (lost_iterations_ >= iterations_of_setup) kept_.reset();
    }
}

#define NZ_INSTANTIATE_COLUMNS(V, B, P)                                       \
    template std::vector<system_report> whole_system<V, B>::solve_columns<P>( \
        const in_columns<V, P>&, const out_columns<V, P>&, steady_clock::time_point);
#define NZ_INSTANTIATE_WHOLE(V, B)                            \
    template class prepared_system<V, B, whole_matrix<V, B>>; \
    NZ_INSTANTIATE_COLUMNS(V, B, cpu)
#define NZ_INSTANTIATE(V, B)                                                             \
    NZ_INSTANTIATE_WHOLE(V, B)                                                           \
    template system_over_ranks<V, B>::prepared_system(B, matrix_over_ranks<V, B>,        \
                                                      const system_options&, to_follow); \
    template system_report system_over_ranks<V, B>::solve(                               \
        in<V, B>, out<V, B>, steady_clock::time_point, const system_options&);
#define NZ_INSTANTIATE_ON_CPU(V) NZ_INSTANTIATE(V, cpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_ON_CPU)
#if defined(NZ_WITH_CUDA)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)
NZ_INSTANTIATE_WHOLE(std::complex<float>, gpu)
NZ_INSTANTIATE_WHOLE(std::complex<double>, gpu)
#define NZ_INSTANTIATE_THERE(V) NZ_INSTANTIATE_COLUMNS(V, gpu, gpu)
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_THERE)
#define NZ_INSTANTIATE_ON_GPU(V, P)                                         \
    template std::vector<system_report> system_on_gpu<V>::solve_columns<P>( \
        const in_columns<V, P>&, const out_columns<V, P>&, steady_clock::time_point);
template class prepared_system<float, gpu, matrix_on_gpu<float>>;
template class prepared_system<double, gpu, matrix_on_gpu<double>>;
NZ_INSTANTIATE_ON_GPU(float, cpu)
NZ_INSTANTIATE_ON_GPU(float, gpu)
NZ_INSTANTIATE_ON_GPU(double, cpu)
NZ_INSTANTIATE_ON_GPU(double, gpu)
#endif

}  // namespace nz
