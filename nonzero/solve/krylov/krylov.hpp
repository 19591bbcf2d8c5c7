// Shared by the Krylov solvers: everything around their iterations.
#pragma once

#include <cmath>
#include <limits>
#include <optional>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/formats/registry.hpp"
#include "nonzero/solve/krylov/loop.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// Throws argument_error unless A x = b, with M for a preconditioner where there is one, can be
/// asked for; over ranks on all of them, also where they were given different options.
template <class V, class B>
void check_system(const char* what, B on, const linear_operator<V, B>& A,
                  const linear_operator<V, B>* M, in<V, B> b, in<V, B> x, const solve_options&);

/// Throws argument_error where an option is out of its range.
void check_options(const char* what, const solve_options&);

/// Base of the scalars of every Krylov solver.
struct krylov_state : loop_state {
    double rhs2 = 0;  ///< |b|^2
};

/// above / below; where that is not possible or not finite this is the last iteration.
template <class W>
NZ_HOST_DEVICE W krylov_quotient(krylov_state& s, W above, W below) {
    const W q = below == W(0) ? W(0) : above / below;
    if (!loop_state::is_finite(norm2(q))) s.next = status::not_finite;
    if (below == W(0)) s.next = status::breakdown;
    return s.has_failed() ? W(0) : q;
}

/// A residual this much above its least one ends the iterations, squared: slu_cmat grew to 1e59 in
/// 2,815 iterations without it.
inline constexpr double divergence2 = 1e12;

/// Whether iterations may start: |b| is from 2^-64 to 2^64 and |b - A x| at most 2^64 times that.
/// Farther off, squares of residuals or their products underflow or overflow.
inline bool suits_iterations(const krylov_state& s) {
    return s.rhs2 >= 0x1p-128 && s.rhs2 <= 0x1p128 && s.residual2 <= 0x1p128 * s.rhs2;
}

/// The system that iterations work on: A x = b as it is, or times powers of two.
template <class V, class B>
struct linear_problem {
    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;  ///< the preconditioner; null: there is none
    in<V, B> b;
};

/// The report of `solve`, which works on x and has none where b and x do not suit iterations: then
/// b and x are scaled by the power of two that brings |b| to [1, 2), and a guess whose residual is
/// beyond 2^64 |b| gives way to zero. Where `solve` does not converge and A's products show that
/// squares of its values leave the range of double, A and M are scaled as well and it is called
/// again. x is scaled back, and converged means that x as it is then, rounded to denormal numbers
/// perhaps, fulfils tol.
template <class V, class B>
solve_report solve_in_scale(
    B on, const linear_problem<V, B>&, out<V, B> x, const solve_options&,
    const std::function<std::optional<solve_report>(const linear_problem<V, B>&)>& solve);

/// |factor v|^2 in double.
template <class V>
NZ_HOST_DEVICE constexpr double norm2_of_multiple(double factor, V v) {
    return norm2(factor * wide_value<V>(v));
}

/// The scalars of `scaled_squares`.
struct square_sums {
    double plain = 0, large = 0, small = 0;
};
/// Squared norms of v, 2^-600 v and 2^600 v, at least one of them usable for any finite v.
/// Source: Blue 1978, doi:10.1145/355769.355771.
template <class V>
struct scaled_squares {
    using scalars = square_sums;
    using totals = sums<double, 3>;
    const V* v;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const V vi = v[i];
        return {{norm2(vi), norm2_of_multiple(0x1p-600, vi), norm2_of_multiple(0x1p600, vi)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.plain = t[0], s.large = t[1], s.small = t[2];
    }
};

/// r = b - q, with |r|^2 and |b|^2.
template <class V, class S>
struct residual_step {
    using scalars = S;
    using totals = sums<double, 2>;
    const V *b, *q;
    V* r;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const V bi = b[i], ri = bi - q[i];
        r[i] = ri;
        return {{norm2(ri), norm2(bi)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.residual2 = t[0], s.rhs2 = t[1];
    }
};

/// A copy of x to go back to.
template <class V, class B>
class kept_solution {
  public:
    kept_solution(vector_space<V, B>& space, out<V, B> x) : space_(space), x_(x) {}
    /// residual2: x's squared residual.
    void keep(double residual2) {
        if (copy_.size() == 0) copy_ = space_.make();
        space_.copy(x_, copy_);
        residual2_ = residual2;
    }
    /// Whether there is one that is better than an x with this squared residual, or NaN.
    [[nodiscard]] bool beats(double residual2) const {
        return std::isfinite(residual2_) && !(residual2 <= residual2_);
    }
    void take() { space_.copy(copy_, x_); }

  private:
    vector_space<V, B>& space_;
    out<V, B> x_;
    vector<V, B> copy_;
    double residual2_ = std::numeric_limits<double>::infinity();
};

/// Base of the methods that krylov_solve runs. Each derives from it and adds
///
///     void operator()();                 // one iteration; what a graph captures
///     void finalize();                   // brings x up to date
///     void restart(std::span<S>);        // r is b - A x, and the directions so far are forgotten
///
/// S derives from krylov_state.
template <class V, class B, class S>
struct krylov_frame {
    using scalars = S;

    krylov_frame(B on, const linear_operator<V, B>& matrix,
                 const linear_operator<V, B>* preconditioner, out<V, B> solution)
        : space(on, matrix.shape().rows),
          A(matrix),
          M(preconditioner),
          x(solution),
          r(space.make()),
          q(space.make()),
          s(on, {}) {
        if (M != nullptr) z = space.make();
    }
    /// Whether residuals may grow without bounds on the way.
    static constexpr bool is_erratic = false;
    /// Iterations that make one pass of a graph: without a preconditioner a pass's start weighs
    /// more than a few wasted iterations at the end (docs/decisions/solvers.md).
    [[nodiscard]] int at_a_time() const { return M == nullptr ? 4 : 1; }
    template <class Step>
    void run(const Step& step) {
        run_fused(space, step, s.data());
    }
    /// to = op from
    void apply(const linear_operator<V, B>& op, in<V, B> from, out<V, B> to) {
        op.apply(V(1), from, V(0), to);
    }
    void copy(in<V, B> from, out<V, B> to) { space.copy(from, to); }
    /// A step that changes the scalars before the first iteration.
    template <class Step>
    void run_before(const Step& step, std::span<S> all) {
        s.write(all.front());
        run(step);
        all.front() = s.read();
    }

    vector_space<V, B> space;
    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;  ///< null: there is none
    out<V, B> x;
    vector<V, B> r, q, z;  ///< q: for A x where no iteration is under way; z: only beside M
    scalars_on<S, B> s;
};

/// Solves A x = b by iterations of `Method`, from the x given on, until |b - A x| <= tol |b| holds
/// for the true residual.
template <class V, class B, class Method>
class krylov_solve {
    using S = typename Method::scalars;
    /// A tenth of the residual is worth a copy of x, which takes a tenth of an iteration.
    static constexpr double notable_share = 100;

  public:
    krylov_solve(B on, const linear_operator<V, B>& A, const linear_operator<V, B>* M, in<V, B> b,
                 out<V, B> x, const solve_options& o)
        : b_(b),
          options_(o),
          method_(on, A, M, x),
          history_(make_vector<double>(on, std::size_t(longest_batch))),
          best_(method_.space, x),
          notable_(method_.space, x) {}

    /// None where b and x do not suit iterations.
    std::optional<solve_report> run() {
        S s = find_residual();
        if (!suits_iterations(s)) return std::nullopt;
        report_.rhs_norm = std::sqrt(s.rhs2);
        report_.residual_norm = std::sqrt(s.residual2);
        report_.history.push_back(report_.residual_norm / report_.rhs_norm);
        const double tol = options_.template tol_of<V>();
        s.target2 = tol * tol * s.rhs2;
        s.history = history_.data();
        if (s.residual2 <= s.target2) return end(status::converged);
        best_.keep(s.residual2);
        prepare(s);
        loop<B> iterations(
            method_.space.on(), [this] { method_(); }, method_.s.data(), options_.graph,
            method_.at_a_time());
        report_.in_graph = iterations.in_graph();
        report_.setup_s = seconds_since(start_);
        return iterate(iterations);
    }

  private:
    solve_report iterate(loop<B>& iterations) {
        double last_claim2 = std::numeric_limits<double>::infinity();
        double at_start2 = method_.s.read().residual2;  // of where the directions began
        std::int64_t restarted_at = 0;
        for (;;) {
            const bool stopped = !advance(iterations);
            method_.finalize();
            S s = find_residual();
            report_.iterations = s.iterations;
            if (s.residual2 <= s.target2) return end(status::converged);
            const bool starts_again =
                (s.now == status::breakdown && s.iterations > restarted_at) ||
                (s.now == status::singular_matrix && s.residual2 <= at_start2 / 4);
            if (s.now > status::converged && !starts_again) return give_up(s.now);
            if (stopped) return give_up(status::stopped_by_caller);
            if (s.iterations >= options_.max_iter) return give_up(status::max_iter);
            if (is_out_of_time()) return give_up(status::max_seconds);
            if (s.now == status::converged) {
                if (s.residual2 > last_claim2 / 4) return give_up(status::limited_by_rounding);
                last_claim2 = s.residual2;
            }
            if (!best_.beats(s.residual2)) best_.keep(s.residual2);
            if (s.now == status::running) {
                method_.s.write(s);
                continue;
            }
            s.now = s.next = status::running;
            restarted_at = s.iterations, at_start2 = s.residual2;
            prepare(s);
        }
    }

    /// The directions begin at x, whose residual s has.
    void prepare(S& s) {
        if constexpr (Method::is_erratic) s.notable2 = s.residual2 / notable_share;
        method_.restart(std::span(&s, 1));
        method_.s.write(s);
    }

    /// Runs until the next true residual is due; false where `monitor` wants to stop.
    bool advance(loop<B>& iterations) {
        S s = method_.s.read();
        const std::int64_t end =
            options_.replace_every > 0
                ? std::min(options_.max_iter, s.iterations + options_.replace_every)
                : options_.max_iter;
        bool wanted = true;
        while (wanted && s.now == status::running && s.iterations < end && !is_out_of_time()) {
            s.pause_at = std::min(end, s.iterations + batch_);
            s.history_from = s.iterations;
            method_.s.write(s);
            const auto start = steady_clock::now();
            iterations.run();
            s = method_.s.read();
            const double taken_s = seconds_since(start);
            report_.iterations_s += taken_s;
            wanted = note(s);
            if constexpr (Method::is_erratic) keep_notable(s);
            // Ranks stop together, and look in after the same iterations.
            if (monitored_) wanted = on_all(ranks_, wanted);
            if (!monitored_ && !timed_) batch_ = longest_batch;
            // A progress line wants news 20 times a second, as the clock does.
            else if (on_all(ranks_, taken_s < 0.05))
                batch_ = std::min(2 * batch_, longest_batch);
        }
        return wanted;
    }

    /// Fetches the batch's history; false where `monitor` wants to stop.
    bool note(const S& s) {
        const in<double, B> written{history_.data(), std::size_t(s.iterations - s.history_from)};
        const auto squares = to_host<double>(method_.space.on(), written);
        bool wanted = true;
        for (std::int64_t k = s.history_from; k < s.iterations; ++k) {
            const double relative =
                std::sqrt(squares[std::size_t(k - s.history_from)]) / report_.rhs_norm;
            report_.history.push_back(relative);
            if (options_.monitor) wanted = options_.monitor(k + 1, relative) && wanted;
        }
        return wanted;
    }

    /// r = b - A x
    S find_residual() {
        method_.A.apply(V(1), method_.x, V(0), method_.q);
        method_.run(residual_step<V, S>{b_.data(), method_.q.data(), method_.r.data()});
        return method_.s.read();
    }

    /// Keeps x where the residual that is carried along is the least so far by far.
    void keep_notable(S& s) {
        if (!(s.residual2 <= s.notable2)) return;
        notable_.keep(s.residual2);
        s.notable2 = s.residual2 / notable_share;
    }

    /// Ranks stop together.
    [[nodiscard]] bool is_out_of_time() const {
        return timed_ && !on_all(ranks_, seconds_since(start_) < options_.max_seconds);
    }

    /// x is the best of those whose residual is known.
    solve_report give_up(status why) {
        for (auto* const kept : {&notable_, &best_})
            if (kept->beats(method_.s.read().residual2)) {
                kept->take();
                find_residual();
            }
        return end(why);
    }
    solve_report end(status why) {
        report_.residual_norm = std::sqrt(method_.s.read().residual2);
        report_.end_by(why);
        report_.relative = report_.residual_norm / report_.rhs_norm;
        return std::move(report_);
    }

    steady_clock::time_point start_ = steady_clock::now();
    in<V, B> b_;
    const solve_options& options_;
    Method method_;
    vector<double, B> history_;
    kept_solution<V, B> best_;     ///< by |b - A x|
    kept_solution<V, B> notable_;  ///< by the residual that is carried along, where it is erratic
    const communicator* ranks_ = ranks_of(method_.space.on());
    bool monitored_ = !on_all(ranks_, !options_.monitor);  ///< on any rank
    bool timed_ = std::isfinite(options_.max_seconds);
    std::int64_t batch_ = monitored_ || timed_ || std::is_same_v<B, cpu> ? 1 : longest_batch;
    solve_report report_;
};

/// The solver `name`: by iterations of `Method`, in a scale that suits them.
template <class V, class B, class Method>
solve_report solve_by(const char* name, B on, const linear_operator<V, B>& A,
                      const linear_operator<V, B>* M, in<V, B> b, out<V, B> x,
                      const solve_options& o) {
    check_system<V, B>(name, on, A, M, b, x, o);
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        return solve_in_scale<V, B>(on, {A, M, b}, x, o, [&](const linear_problem<V, B>& p) {
            return krylov_solve<V, B, Method>(on, p.A, p.M, p.b, x, o).run();
        });
    }
}

}  // namespace nz
