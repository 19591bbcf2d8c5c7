// Run of LSMR and LSQR, which share Golub and Kahan's process and differ in how x moves.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/least_squares/least_squares_steps.hpp"
#include "nonzero/solve/least_squares/planned_pair.hpp"

namespace nz {

/// Throws argument_error unless the problem can be asked for; over ranks on all of them.
template <class V, class B>
void check_least_squares(const char* what, B on, const linear_operator<V, B>& A, in<V, B> b,
                         in<V, B> x, const least_squares_options& o) {
    const communicator* const ranks = ranks_of(on);
    agree(ranks, [&] {
        const auto require = [&](bool holds, const std::string& why) {
            if (!holds) throw argument_error(std::string(what) + ": " + why);
        };
        const nz::shape shape = A.shape();
        require(b.size() == std::size_t(shape.rows), "b has " + std::to_string(b.size()) +
                                                         " elements, expected " +
                                                         std::to_string(shape.rows));
        require(x.size() == std::size_t(shape.cols), "x has " + std::to_string(x.size()) +
                                                         " elements, expected " +
                                                         std::to_string(shape.cols));
        require(std::isfinite(o.damp), "damp is not finite");
        require(o.atol >= 0 && o.btol >= 0, "atol or btol is negative or no number");
        require(o.conlim >= 0, "conlim is negative or no number");
        require(o.max_iter >= -1,
                "max_iter is " + std::to_string(o.max_iter) + ", expected 0 or more, or -1");
        require(o.max_seconds >= 0, "max_seconds is negative or no number");
    });
    expect_equal(ranks, what,
                 std::array{o.damp, o.atol, o.btol, o.conlim, double(o.max_iter), o.max_seconds});
}

/// Method derives from this and adds move(), the last step of an iteration, and is made of
///
///     Method(B on, const linear_operator<V, B>& A, out<V, B> x)
template <class V, class B, class S>
struct bidiagonal_frame {
    using scalars = S;
    static constexpr auto adjoint = transposition::conjugate_transpose;

    bidiagonal_frame(B on, const linear_operator<V, B>& matrix, out<V, B> solution)
        : of_rows(on, matrix.shape().rows),
          of_cols(on, matrix.shape().cols),
          A(matrix),
          x(solution),
          u(of_rows.make()),
          Av(of_rows.make()),
          v(of_cols.zero()),
          Au(of_cols.make()),
          s(on, {}) {}
    /// u = b - A x, with |u|^2 and |b|^2.
    void find_residual(in<V, B> b) {
        A.apply(V(1), x, V(0), Av);
        run_fused(of_rows, residual_step<V, S>{b.data(), Av.data(), u.data()}, s.data());
    }
    void next_u() {
        A.apply(V(1), v, V(0), Av);
        run_fused(of_rows, bidiagonal_left<V, S>{{}, Av.data(), u.data()}, s.data());
    }
    void next_v() {
        A.apply_transposed(adjoint, V(1), u, V(0), Au);
        run_fused(of_cols, bidiagonal_right<V, S>{{}, Au.data(), v.data()}, s.data());
    }

    vector_space<V, B> of_rows, of_cols;
    const linear_operator<V, B>& A;
    out<V, B> x;
    vector<V, B> u, Av, v, Au;
    scalars_on<S, B> s;
};

template <class V, class B, class Method>
class bidiagonal_solve {
    using S = typename Method::scalars;
    using endings = least_squares_options::report::endings;

  public:
    bidiagonal_solve(B on, Method& method, const least_squares_options& o, std::int64_t max_iter)
        : method_(method),
          options_(o),
          max_iter_(max_iter),
          history_(make_vector<double>(on, std::size_t(longest_batch))) {}

    least_squares_options::report run(in<V, B> b) {
        if (const auto at_once = begin(b)) return end(*at_once, b);
        loop<B> iterations(
            method_.of_rows.on(),
            [this] {
                method_.next_u();
                method_.next_v();
                method_.move();
            },
            method_.s.data(), options_.graph, 2);
        report_.in_graph = iterations.in_graph();
        report_.setup_s = seconds_since(start_);
        return end(iterate(iterations), b);
    }

  private:
    /// The first u and v; why there is nothing to iterate, where that is so.
    std::optional<endings> begin(in<V, B> b) {
        method_.find_residual(b);
        S s = method_.s.read();
        report_.rhs_norm = std::sqrt(s.rhs2);
        s.damp = options_.damp, s.atol = options_.atol, s.btol = options_.btol;
        s.least_inverse_condition = S::inverse(options_.conlim);
        s.rounding = double(std::numeric_limits<real<V>>::epsilon()) / 2;
        s.take_beta(s.residual2);
        // Where b is zero, the residual at the start is what others are small beside.
        s.rhs_norm = report_.rhs_norm > 0 ? report_.rhs_norm : s.beta;
        s.history = history_.data();
        s.target2 = -1;
        s.pause_at = 1;
        if (!std::isfinite(s.rhs_norm) || s.has_failed()) return endings::not_finite;
        method_.s.write(s);
        method_.next_v();
        method_.move();
        s = method_.s.read();
        if (s.has_failed() || !std::isfinite(s.solution_norm)) return endings::not_finite;
        if (s.alpha * s.beta == 0)
            return vanishes(method_.of_rows, in<V, B>(method_.u)) ||
                           vanishes(method_.of_cols, in<V, B>(method_.Au))
                       ? endings::not_finite
                       : endings::exact_at_start;
        return std::nullopt;
    }

    /// Whether the square of a vector that is not zero is.
    static bool vanishes(vector_space<V, B>& space, in<V, B> v) {
        scalars_on<square_sums, B> at(space.on(), {});
        run_fused(space, scaled_squares<V>{v.data()}, at.data());
        const square_sums all = at.read();
        return all.plain == 0 && all.small > 0;
    }

    endings iterate(loop<B>& iterations) {
        for (;;) {
            S s = method_.s.read();
            if (s.now == status::converged) return s.ending;
            if (s.now != status::running) return endings::not_finite;
            if (s.iterations >= max_iter_) return endings::max_iter;
            if (is_out_of_time()) return endings::max_seconds;
            s.pause_at = std::min(max_iter_, s.iterations + batch_);
            s.history_from = s.iterations;
            method_.s.write(s);
            const auto start = steady_clock::now();
            iterations.run();
            const double taken_s = seconds_since(start);
            report_.iterations_s += taken_s;
            bool wanted = tell();
            if (monitored_) wanted = on_all(ranks_, wanted);
            if (!monitored_ && !timed_) batch_ = longest_batch;
            // A progress line wants news 20 times a second, as the clock does.
            else if (on_all(ranks_, taken_s < 0.05))
                batch_ = std::min(2 * batch_, longest_batch);
            if (!wanted) return endings::stopped_by_caller;
        }
    }

    /// False where `monitor` wants to stop.
    bool tell() {
        if (!options_.monitor) return true;
        const S s = method_.s.read();
        const in<double, B> written{history_.data(), std::size_t(s.iterations - s.history_from)};
        const auto squares = to_host<double>(method_.of_rows.on(), written);
        bool wanted = true;
        for (std::int64_t k = s.history_from; k < s.iterations; ++k)
            wanted = options_.monitor(
                         k + 1, std::sqrt(squares[std::size_t(k - s.history_from)]) / s.rhs_norm) &&
                     wanted;
        return wanted;
    }

    /// Ranks stop together.
    [[nodiscard]] bool is_out_of_time() const {
        return timed_ && !on_all(ranks_, seconds_since(start_) < options_.max_seconds);
    }

    least_squares_options::report end(endings why, in<V, B> b) {
        S s = method_.s.read();
        report_.end_by(why);
        report_.iterations = s.iterations;
        report_.damped_norm = s.damped_norm;
        report_.gradient_norm = s.gradient_norm;
        report_.norm = std::sqrt(s.norm2), report_.condition = s.condition;
        report_.solution_norm = s.solution_norm;
        if (s.iterations > 0) {
            method_.find_residual(b);
            s = method_.s.read();
        }
        report_.residual_norm = std::sqrt(s.residual2);
        return std::move(report_);
    }

    steady_clock::time_point start_ = steady_clock::now();
    Method& method_;
    const least_squares_options& options_;
    std::int64_t max_iter_;
    vector<double, B> history_;
    const communicator* ranks_ = ranks_of(method_.of_rows.on());
    bool monitored_ = !on_all(ranks_, !options_.monitor);  ///< on any rank
    bool timed_ = std::isfinite(options_.max_seconds);
    std::int64_t batch_ = monitored_ || timed_ || std::is_same_v<B, cpu> ? 1 : longest_batch;
    least_squares_options::report report_;
};

/// The solver on host vectors, with a planned pair of products: f(A, b, x), vectors where B
/// computes.
template <class V, class B, class F>
least_squares_options::report with_planned_pair(const char* what, B on, const csr<V, host_view>& A,
                                                std::span<const V> b, std::span<V> x, const F& f) {
    if (b.size() != std::size_t(A.shape.rows) || x.size() != std::size_t(A.shape.cols))
        throw argument_error(std::string(what) + ": b and x have " + std::to_string(b.size()) +
                             " and " + std::to_string(x.size()) + " elements, expected " +
                             std::to_string(A.shape.rows) + " and " + std::to_string(A.shape.cols));
    if constexpr (!is_built<B>) {
        refuse_gpu();
    } else {
        const auto op = planned_pair(on, A);
        const auto rhs = from_host(on, b);
        auto there = from_host(on, std::span<const V>(x));
        auto report = f(*op, in<V, B>(rhs), out<V, B>(there));
        const auto found = to_host<V>(on, in<V, B>(there));
        std::copy(found.begin(), found.end(), x.begin());
        return report;
    }
}

}  // namespace nz
