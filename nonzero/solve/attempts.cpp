#include "nonzero/solve/attempts.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/core/agreement.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/idrs.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/prepared_matrix.hpp"

namespace nz {
namespace {

template <class V, class B>
solve_report solve_by(krylov_method method, B on, const linear_operator<V, B>& A,
                      const linear_operator<V, B>* M, in<V, B> b, out<V, B> x,
                      const gmres_options& o) {
    switch (method) {
        case krylov_method::cg:
            return M ? cg<V, B>(on, A, *M, b, x, o) : cg<V, B>(on, A, b, x, o);
        case krylov_method::minres:
            return M ? minres<V, B>(on, A, *M, b, x, o) : minres<V, B>(on, A, b, x, o);
        case krylov_method::bicgstab:
            return M ? bicgstab<V, B>(on, A, *M, b, x, o) : bicgstab<V, B>(on, A, b, x, o);
        case krylov_method::idrs:
            return M ? idrs<V, B>(on, A, *M, b, x, o) : idrs<V, B>(on, A, b, x, o);
        default:
            return M ? gmres<V, B>(on, A, *M, b, x, o) : gmres<V, B>(on, A, b, x, o);
    }
}

/// The slowest fall of residuals that is worth more iterations: evenly, by one factor in each, from
/// the first residual to tol at the last iteration.
struct pace {
    static constexpr std::int64_t judged_from = 10;
    double tol = 0;
    std::int64_t iterations = 0;  ///< 0: any
    double first = 0, least = 0;  ///< residuals so far
    [[nodiscard]] bool is_kept(std::int64_t k, double residual) {
        if (first == 0) first = least = residual;
        least = std::min(least, residual);
        if (iterations == 0 || k < judged_from) return true;
        return std::log(least / first) <= std::log(tol / first) * double(k) / double(iterations);
    }
};

/// Stops an attempt whose residual no longer halves, or does not keep its pace, and notes what the
/// caller's monitor throws.
class patience {
  public:
    patience(std::function<bool(std::int64_t, double)> monitor, std::int64_t iterations, pace p)
        : monitor_(std::move(monitor)), iterations_(iterations), pace_(p) {}
    bool is_running(std::int64_t k, double residual) {
        if (monitor_ && !ask(k, residual)) stopped_ = true;
        if (stopped_ || lost_) return false;  // a batch is told to its end
        if (residual <= least_ / 2) least_ = residual, since_ = k;
        too_slow_ = !pace_.is_kept(k, residual);
        return !(lost_ = too_slow_ || k - since_ >= iterations_);
    }
    [[nodiscard]] bool lost() const { return lost_; }
    [[nodiscard]] status why_lost() const {
        return too_slow_ ? status::too_slow : status::no_longer_halves;
    }
    [[nodiscard]] bool stopped() const { return stopped_; }  ///< by the caller's monitor
    [[nodiscard]] bool monitor_threw() const { return asking_; }

  private:
    bool ask(std::int64_t k, double residual) {
        asking_ = true;
        const bool goes_on = monitor_(k, residual);
        asking_ = false;
        return goes_on;
    }

    std::function<bool(std::int64_t, double)> monitor_;
    std::int64_t iterations_, since_ = 0;
    pace pace_;
    double least_ = 1;
    bool lost_ = false, too_slow_ = false, stopped_ = false, asking_ = false;
};

constexpr double unknown = std::numeric_limits<double>::infinity();

template <class V, class B>
class attempts {
  public:
    attempts(B on, const attempted_system<V, B>& s, const system_options& o, system_report& report)
        : on_(on), system_(s), options_(o), report_(report) {
        agree(ranks_, [&] { from_ = copied<V>(on_, system_.x); });
    }

    void run(std::vector<choice> left) {
        alone_ = left.size() == 1;
        bool is_first = true;    // until one that is no probe has failed
        bool is_opening = true;  // until the first of these has had all of its iterations
        while (!left.empty()) {
            const choice c = left.front();
            left.erase(left.begin());
            const bool last = left.empty();
            const std::int64_t fair = is_opening || last ? iterations_ : (iterations_ + 1) / 2;
            const std::int64_t share = std::min(fair, c.most_iterations);
            attempt(c, share, last);
            const solve_report& r = report_.attempts.back().report;
            if (r.converged || is_over_) break;
            if (r.status == status::indefinite_matrix)
                std::erase_if(left, [](choice d) { return d.method == krylov_method::cg; });
            if (c.is_probe) {
                if (!left.empty() && !left.front().is_probe) system_.reconsider(c, left);
                continue;
            }
            const bool first = std::exchange(is_first, false);
            // An attempt that its share ended gets the iterations that the others leave, and one
            // that was cut short goes on at once, unless something else is cheaper now.
            const bool was_cut =
                (share < fair && r.status == status::max_iter) ||
                (c.patience != choice::any && r.status == status::no_longer_halves) ||
                r.status == status::too_slow;
            if (was_cut || (share < iterations_ && r.status == status::max_iter))
                left.insert(was_cut ? left.begin() : left.end(), {c.method, c.preconditioner});
            if (first) system_.reconsider(c, left);
            if (is_opening) {
                is_opening = was_cut || (!first && c.method == krylov_method::direct);
                continue;
            }
            iterations_ -= r.iterations;
            if (iterations_ <= 0) break;
        }
        if (failure_ && !any_ran_) std::rethrow_exception(failure_);
    }

  private:
    /// One method from the best x so far on.
    void attempt(const choice& c, std::int64_t most, bool last) {
        system_report::attempt a{c.method, c.preconditioner, {}};
        const std::int64_t patient =
            std::min(c.patience, std::max<std::int64_t>(500, options_.max_iter / 4));
        const double reached = std::max(options_.template tol_of<V>(),
                                        double(std::numeric_limits<real<V>>::epsilon()));
        const pace asked{reached, c.is_paced ? c.most_iterations : 0};
        patience p(options_.monitor, last ? std::numeric_limits<std::int64_t>::max() : patient,
                   asked);
        vector<V, B> x;
        try {
            x = found_by(c, most, last, p, a);
            any_ran_ = true;
        } catch (const std::exception& e) {
            const bool on_all_ranks =
                ranks_ == nullptr || dynamic_cast<const agreed_error*>(&e) != nullptr;
            if (p.monitor_threw() || !on_all_ranks) throw;
            failure_ = std::current_exception();
            a.factors.reset();
            a.report = {}, a.report.end_by(status::failed, e.what());
            a.report.relative = unknown;
        }
        report_.attempts.push_back(std::move(a));
        if (report_.attempts.back().report.relative != unknown) keep(std::move(x), last);
    }

    /// The x that an attempt ends with; its report and times in `a`.
    vector<V, B> found_by(const choice& c, std::int64_t most, bool last, patience& p,
                          system_report::attempt& a) {
        const auto start = steady_clock::now();
        gmres_options o = options_;
        const auto M = seconds_left() > 0 ? preconditioner_of(c, last, a) : nullptr;
        a.preconditioner_s = seconds_since(start);
        o.max_iter = most, o.max_seconds = seconds_left();
        o.flexible = c.method == krylov_method::fgmres || c.method == krylov_method::refine;
        // Long cycles take long: first it is others' turn.
        if (!last) o.most_restart = std::min(o.most_restart, 4 * o.restart);
        if (!last || options_.monitor)
            o.monitor = [&](std::int64_t k, double r) { return p.is_running(k, r); };
        vector<V, B> x;
        agree(ranks_, [&] { x = copied<V>(on_, from_); });
        const auto iterating = steady_clock::now();
        a.report = solve_by<V, B>(c.method, on_, system_.product, M.get(), system_.b, x, o);
        a.solve_s = seconds_since(iterating);
        // Only some ranks may have a monitor, whose word counts more.
        const bool stopped = !on_all(ranks_, !p.stopped());
        const bool lost = !on_all(ranks_, !p.lost()) && !stopped;
        if (lost && !a.report.converged) a.report.end_by(p.why_lost());
        is_over_ = alone_ || a.report.status == status::stopped_by_caller ||
                   a.report.status == status::max_seconds;
        return x;
    }

    /// Alone, a preconditioner that A does not suit is the caller's fault.
    std::unique_ptr<linear_operator<V, B>> preconditioner_of(const choice& c, bool last,
                                                             system_report::attempt& told) {
        try {
            return system_.make(c, last, told);
        } catch (const argument_error& e) {
            if (options_.method || options_.preconditioner) throw unsuitable(e.what());
            throw;
        }
    }

    /// By the clock of the first rank.
    [[nodiscard]] double seconds_left() const {
        const double mine = std::max(0.0, options_.max_seconds - seconds_since(system_.start));
        return ranks_ == nullptr ? mine : gathered(*ranks_, mine).front();
    }

    /// x becomes the result where it is the best so far, and where the next attempt starts from
    /// where it is better than the guess and not huge.
    void keep(vector<V, B> x, bool last) {
        const solve_report& r = report_.attempts.back().report;
        if (relative_ == unknown) relative_ = r.history.front();
        const double before = report_.result().report.relative;
        if (report_.attempts.size() == 1 || std::isnan(before) || r.relative < before) {
            report_.best = report_.attempts.size() - 1;
            copy_into<V>(on_, x, system_.x);
        }
        if (r.converged || is_over_ || last) return;
        // Before (p, A p) was seen not to be positive it may have been next to nothing, and the
        // step along p, where A is singular a part of its null space, huge.
        if (r.status == status::indefinite_matrix) return;
        constexpr double unit = std::numeric_limits<real<V>>::epsilon() / 2;
        const double rounding = 8 * unit * system_.rounding_scale(x);
        // From such an x no method gets to tol: rounding errors of A x alone are larger. Where A is
        // singular its null space may have grown in x, and another method may find a small x.
        if (rounding > std::max(options_.template tol_of<V>(), std::sqrt(unit))) return;
        // No x can be expected to have a smaller residual.
        if (r.relative <= rounding) is_over_ = true;
        if (r.relative < relative_) relative_ = r.relative, from_ = std::move(x);
    }

    B on_;
    const attempted_system<V, B>& system_;
    const system_options& options_;
    system_report& report_;
    const communicator* ranks_ = ranks_of(on_);
    std::int64_t iterations_ = options_.max_iter;  ///< left for all
    vector<V, B> from_;                            ///< first guess of the next attempt
    double relative_ = unknown;                    ///< its residual
    bool alone_ = false, is_over_ = false, any_ran_ = false;
    std::exception_ptr failure_;
};

}  // namespace

// In long double, whose range squares of doubles do not leave.
template <class V>
double rounding_scale(const csr<V, host_view>& A, std::span<const V> b, std::span<const V> x) {
    using wide = long double;
    wide sum2 = 0, b2 = 0;
    for (std::size_t i = 0; i < b.size(); ++i) {
        wide row = std::abs(b[i]);
        b2 += row * row;
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            row += wide(std::abs(A.val[k])) * wide(std::abs(x[std::size_t(A.col_ind[k])]));
        sum2 += row * row;
    }
    return double(std::sqrt(sum2 / b2));
}

template <class V, class B>
void attempt_all(B on, const attempted_system<V, B>& s, std::vector<choice> choices,
                 const system_options& o, system_report& report) {
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        attempts<V, B>(on, s, o, report).run(std::move(choices));
    }
}

#define NZ_INSTANTIATE(V, B)                                                         \
    template void attempt_all(B, const attempted_system<V, B>&, std::vector<choice>, \
                              const system_options&, system_report&);
#define NZ_INSTANTIATE_FOR(V)                                                    \
    NZ_INSTANTIATE(V, cpu)                                                       \
    NZ_INSTANTIATE(V, gpu)                                                       \
    template double rounding_scale(const csr<V, host_view>&, std::span<const V>, \
                                   std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_FOR)

}  // namespace nz
