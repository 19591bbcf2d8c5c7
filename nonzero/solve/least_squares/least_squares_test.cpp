// LSMR and LSQR: held against what least squares solutions fulfil, on matrices of every shape and
// rank, and every way to end.
#include "nonzero/solve/least_squares/least_squares.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nonzero/dist/distributed.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/vector/scalar.hpp"
#include "test/solver_fixture.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

using endings = least_squares_options::report::endings;

/// A number in [-1, 1] for every seed.
double random_number(std::uint64_t seed) {
    return double(scatter_bits(seed + 1) >> 11) * 0x1p-52 - 1;
}
template <class V>
V random_value(std::uint64_t seed) {
    if constexpr (is_complex<V>) {
        return V(real<V>(random_number(2 * seed)), real<V>(random_number(2 * seed + 1)));
    } else {
        return V(random_number(seed));
    }
}
template <class V>
host_vector<V> random_vector(std::size_t n, std::uint64_t seed) {
    host_vector<V> v(n);
    for (std::size_t i = 0; i < n; ++i) v[i] = random_value<V>(seed * 1000003 + i);
    return v;
}

/// A random matrix with about `each` entries in a row; a third of the rows and columns are empty
/// where `gaps`.
template <class V>
csr<V, host> random_matrix(index rows, index cols, int each, bool gaps = false) {
    std::vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < rows; ++i)
        for (int k = 0; k < each; ++k) {
            const auto seed = std::uint64_t(i) * 64 + std::uint64_t(k);
            const auto j = index(scatter_bits(seed) % std::uint64_t(cols));
            if (gaps && (i % 3 == 1 || j % 3 == 2)) continue;
            row.push_back(i), col.push_back(j), val.push_back(random_value<V>(seed));
        }
    return assemble<V>({rows, cols}, row, col, val);
}

/// op(A) x in double.
template <class V>
std::vector<wide_value<V>> times(const csr<V, host>& A, bool adjoint,
                                 const std::vector<wide_value<V>>& x) {
    std::vector<wide_value<V>> y(std::size_t(adjoint ? A.shape.cols : A.shape.rows));
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k) {
            const auto a = wide_value<V>(A.val[std::size_t(k)]);
            const auto j = std::size_t(A.col_ind[std::size_t(k)]);
            if (adjoint) {
                y[j] += conjugated(transposition::conjugate_transpose, a) * x[std::size_t(i)];
            } else {
                y[std::size_t(i)] += a * x[j];
            }
        }
    return y;
}
template <class W>
double length(const std::vector<W>& v) {
    double sum = 0;
    for (const W& w : v) sum += std::norm(w);
    return std::sqrt(sum);
}

/// |b - A x| and |A^H (b - A x) - damp^2 x|.
struct optimality {
    double residual, gradient;
};
template <class V>
optimality optimality_of(const csr<V, host>& A, const host_vector<V>& b, const host_vector<V>& x,
                         double damp) {
    const std::vector<wide_value<V>> wide(x.begin(), x.end());
    auto r = times(A, false, wide);
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = wide_value<V>(b[i]) - r[i];
    auto g = times(A, true, r);
    for (std::size_t j = 0; j < g.size(); ++j) g[j] -= damp * damp * wide[j];
    return {length(r), length(g)};
}

template <class T>
class least_squares : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    static constexpr bool is_single = std::is_same_v<real<value>, float>;

    least_squares_options::report solve(bool by_lsqr, const csr<value, host>& A,
                                        const host_vector<value>& b, host_vector<value>& x,
                                        const least_squares_options& o) const {
        const auto op = build(make_plan(A, this->on_, {.transposed = true}), A);
        if (x.empty()) x.assign(std::size_t(A.shape.cols), value(0));
        const auto rhs = this->to_backend(b);
        auto there = this->to_backend(x);
        const auto report = by_lsqr ? lsqr<value, backend>(this->on_, *op, rhs, there, o)
                                    : lsmr<value, backend>(this->on_, *op, rhs, there, o);
        x = this->here(there);
        return report;
    }
    [[nodiscard]] static least_squares_options strict() {
        const double tol = is_single ? 1e-5 : 1e-11;
        return {.atol = tol, .btol = tol, .conlim = 0, .max_iter = 1000};
    }
};
TYPED_TEST_SUITE(least_squares, everywhere);

TYPED_TEST(least_squares, are_found_for_every_shape) {
    using V = typename TypeParam::V;
    const auto o = this->strict();
    for (const bool by_lsqr : {false, true})
        for (const bool gaps : {false, true})
            for (const double damp : {0.0, 0.7})
                for (const auto& [rows, cols] :
                     {std::pair<index, index>{90, 40}, {40, 90}, {60, 60}}) {
                    const auto A = random_matrix<V>(rows, cols, 5, gaps);
                    const auto b = random_vector<V>(std::size_t(rows), 7);
                    auto with = o;
                    with.damp = damp;
                    host_vector<V> x;
                    const auto report = this->solve(by_lsqr, A, b, x, with);
                    EXPECT_TRUE(report.converged()) << report.why;
                    const auto [r, g] = optimality_of(A, b, x, damp);
                    const double grain = this->is_single ? 1e-3 : 1e-8;
                    EXPECT_LE(g, grain * report.norm * std::max(r, report.rhs_norm));
                    EXPECT_NEAR(report.residual_norm, r, grain * report.rhs_norm)
                        << by_lsqr << gaps << damp << rows;
                    double size2 = 0;
                    for (const V v : x) size2 += norm2(v);
                    EXPECT_NEAR(report.solution_norm, std::sqrt(size2),
                                1e-4 * report.solution_norm);
                }
}

/// Where A has not full rank, the shortest solution: it is a product of A^H.
TYPED_TEST(least_squares, are_the_shortest) {
    using V = typename TypeParam::V;
    const auto base = random_matrix<V>(50, 20, 4);
    // Every column twice.
    std::vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < 50; ++i)
        for (auto k = base.row_ptr[std::size_t(i)]; k < base.row_ptr[std::size_t(i) + 1]; ++k)
            for (const index j : {0, 20}) {
                row.push_back(i), col.push_back(base.col_ind[std::size_t(k)] + j);
                val.push_back(base.val[std::size_t(k)]);
            }
    const auto A = assemble<V>({50, 40}, row, col, val);
    const auto b = random_vector<V>(50, 3);
    for (const bool by_lsqr : {false, true}) {
        host_vector<V> x;
        const auto report = this->solve(by_lsqr, A, b, x, this->strict());
        EXPECT_TRUE(report.converged()) << report.why;
        for (std::size_t j = 0; j < 20; ++j)
            EXPECT_NEAR(std::abs(x[j] - x[j + 20]), 0, this->is_single ? 1e-3 : 1e-9);
    }
}

TYPED_TEST(least_squares, start_from_a_guess) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(80, 30, 6);
    const auto known = random_vector<V>(30, 11);
    const std::vector<wide_value<V>> wide(known.begin(), known.end());
    const auto product = times(A, false, wide);
    host_vector<V> b(80);
    for (std::size_t i = 0; i < 80; ++i) b[i] = rounded_to<V>(product[i]);
    for (const bool by_lsqr : {false, true}) {
        auto o = this->strict();
        auto x = known;
        o.max_iter = 0;
        const auto none = this->solve(by_lsqr, A, b, x, o);
        EXPECT_EQ(none.iterations, 0);
        EXPECT_TRUE(x == known);
        x[3] += V(1);
        o.max_iter = 500;
        const auto report = this->solve(by_lsqr, A, b, x, o);
        EXPECT_EQ(report.ending, endings::solved) << report.why;
        for (std::size_t j = 0; j < 30; ++j)
            EXPECT_NEAR(std::abs(x[j] - known[j]), 0, this->is_single ? 1e-3 : 1e-8);
    }
}

TYPED_TEST(least_squares, of_nothing_are_nothing) {
    using V = typename TypeParam::V;
    for (const bool by_lsqr : {false, true}) {
        const csr<V, host> zero = assemble<V>({6, 4}, {}, {}, {});
        host_vector<V> x;
        EXPECT_EQ(this->solve(by_lsqr, zero, random_vector<V>(6, 1), x, {}).ending,
                  endings::exact_at_start);
        EXPECT_TRUE(x == host_vector<V>(4, V(0)));
        const auto A = random_matrix<V>(30, 10, 3);
        x.clear();
        EXPECT_EQ(this->solve(by_lsqr, A, host_vector<V>(30, V(0)), x, {}).ending,
                  endings::exact_at_start);
        EXPECT_TRUE(x == host_vector<V>(10, V(0)));
        // b is zero and the guess is not.
        x = random_vector<V>(10, 5);
        const auto report = this->solve(by_lsqr, A, host_vector<V>(30, V(0)), x, this->strict());
        EXPECT_TRUE(report.converged()) << report.why;
        for (const V v : x) EXPECT_NEAR(std::abs(v), 0, this->is_single ? 1e-3 : 1e-8);
        for (const auto& [rows, cols] : {std::pair<index, index>{0, 4}, {4, 0}, {0, 0}}) {
            const csr<V, host> none = assemble<V>({rows, cols}, {}, {}, {});
            x.clear();
            EXPECT_EQ(
                this->solve(by_lsqr, none, random_vector<V>(std::size_t(rows), 1), x, {}).ending,
                endings::exact_at_start);
        }
    }
}

TYPED_TEST(least_squares, say_that_something_is_not_finite) {
    using V = typename TypeParam::V;
    using R = real<V>;
    for (const bool by_lsqr : {false, true})
        for (const R bad :
             {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()}) {
            auto A = random_matrix<V>(30, 10, 3);
            auto b = random_vector<V>(30, 2);
            b[4] = V(bad);
            host_vector<V> x;
            EXPECT_EQ(this->solve(by_lsqr, A, b, x, {}).ending, endings::not_finite);
            EXPECT_TRUE(x == host_vector<V>(10, V(0)));
            b[4] = V(1);
            A.val[3] = V(bad);
            x.clear();
            const auto report = this->solve(by_lsqr, A, b, x, {});
            EXPECT_EQ(report.ending, endings::not_finite);
            EXPECT_FALSE(report.converged());
            EXPECT_EQ(
                report.why,
                "A, b or the guess is not finite, or so far from 1 that squares are no numbers");
        }
}

/// A vector too small or too large for its square is not taken for a solution.
TYPED_TEST(least_squares, say_that_squares_are_no_numbers) {
    using V = typename TypeParam::V;
    if (this->is_single) return;  // squares are double
    for (const bool by_lsqr : {false, true})
        for (const int power : {-700, 700}) {
            const V factor = V(std::ldexp(real<V>(1), power));
            const auto A = random_matrix<V>(30, 10, 3);
            auto b = random_vector<V>(30, 2);
            for (V& v : b) v *= factor;
            host_vector<V> x;
            EXPECT_EQ(this->solve(by_lsqr, A, b, x, {}).ending, endings::not_finite);
            auto scaled = A;
            for (V& v : scaled.val) v *= factor;
            x.clear();
            EXPECT_EQ(this->solve(by_lsqr, scaled, random_vector<V>(30, 2), x, {}).ending,
                      endings::not_finite);
        }
}

TYPED_TEST(least_squares, end_when_they_are_told_to) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(200, 150, 4);
    const auto b = random_vector<V>(200, 9);
    for (const bool by_lsqr : {false, true}) {
        host_vector<V> x;
        auto o = this->strict();
        o.atol = o.btol = 0, o.max_iter = 3;
        const auto spent = this->solve(by_lsqr, A, b, x, o);
        EXPECT_EQ(spent.ending, endings::max_iter);
        EXPECT_EQ(spent.iterations, 3);
        std::int64_t seen = 0;
        o.max_iter = 100;
        o.monitor = [&](std::int64_t iteration, double residual) {
            EXPECT_EQ(iteration, ++seen);
            EXPECT_TRUE(residual > 0 && residual <= 1.01);
            return iteration < 2;
        };
        x.clear();
        const auto stopped = this->solve(by_lsqr, A, b, x, o);
        EXPECT_EQ(stopped.ending, endings::stopped_by_caller);
        const auto [r, g] = optimality_of(A, b, x, 0);
        EXPECT_LT(r, stopped.rhs_norm);
        o.monitor = {}, o.max_seconds = 0;
        EXPECT_EQ(this->solve(by_lsqr, A, b, x, o).ending, endings::max_seconds);
    }
}

/// Columns of lengths from 1 to 1e-10: conlim is an order to stop.
TYPED_TEST(least_squares, see_a_bad_condition) {
    using V = typename TypeParam::V;
    const auto base = random_matrix<V>(60, 20, 6);
    auto A = base;
    for (index i = 0; i < 60; ++i)
        for (auto k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k)
            A.val[std::size_t(k)] *= V(real<V>(std::pow(10.0, -0.5 * A.col_ind[std::size_t(k)])));
    for (const bool by_lsqr : {false, true}) {
        host_vector<V> x;
        const auto report = this->solve(by_lsqr, A, random_vector<V>(60, 4), x,
                                        {.atol = 0, .btol = 0, .conlim = 1e4, .max_iter = 1000});
        EXPECT_EQ(report.ending, endings::ill_conditioned) << report.why;
        EXPECT_GE(report.condition, 1e4);
    }
}

/// The scale of A is none of the condition number.
TYPED_TEST(least_squares, are_found_in_every_scale) {
    using V = typename TypeParam::V;
    const auto base = random_matrix<V>(60, 20, 6);
    const auto b = random_vector<V>(60, 4);
    for (const int power : {-20, 20})
        for (const bool by_lsqr : {false, true}) {
            auto A = base;
            for (V& v : A.val) v *= V(std::ldexp(real<V>(1), power));
            host_vector<V> x, scaled;
            auto o = this->strict();
            o.conlim = 1e6;
            EXPECT_TRUE(this->solve(by_lsqr, base, b, x, o).converged());
            const auto report = this->solve(by_lsqr, A, b, scaled, o);
            EXPECT_TRUE(report.converged()) << report.why;
            for (std::size_t j = 0; j < 20; ++j)
                EXPECT_NEAR(std::abs(x[j] - scaled[j] * V(std::ldexp(real<V>(1), power))), 0,
                            this->is_single ? 1e-3 : 1e-8);
        }
}

TYPED_TEST(least_squares, refuse) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(30, 10, 3);
    host_vector<V> x;
    for (const bool by_lsqr : {false, true}) {
        x.clear();
        EXPECT_THROW((void)this->solve(by_lsqr, A, random_vector<V>(10, 1), x, {}), argument_error);
        x.assign(30, V(0));
        EXPECT_THROW((void)this->solve(by_lsqr, A, random_vector<V>(30, 1), x, {}), argument_error);
        x.clear();
        for (const least_squares_options& o :
             {least_squares_options{.damp = std::nan("")}, least_squares_options{.atol = -1},
              least_squares_options{.btol = std::nan("")}, least_squares_options{.conlim = -1},
              least_squares_options{.max_iter = -2}, least_squares_options{.max_seconds = -1}})
            EXPECT_THROW((void)this->solve(by_lsqr, A, random_vector<V>(30, 1), x, o),
                         argument_error);
    }
}

TYPED_TEST(least_squares, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(300, 100, 6);
    const auto b = random_vector<V>(300, 4);
    for (const bool by_lsqr : {false, true}) {
        host_vector<V> x, again;
        (void)this->solve(by_lsqr, A, b, x, {});
        (void)this->solve(by_lsqr, A, b, again, {});
        EXPECT_TRUE(x == again);
    }
}

TEST(least_squares_of_a_csr, are_planned) {
    const auto A = random_matrix<double>(300, 100, 6);
    const auto b = random_vector<double>(300, 4);
    host_vector<double> x(100, 0.0), y(100, 0.0);
    EXPECT_TRUE((lsmr<double, cpu>(cpu{}, view(A), b, x).converged()));
    EXPECT_TRUE((lsqr<double, cpu>(cpu{}, view(A), b, y).converged()));
    for (std::size_t j = 0; j < 100; ++j) EXPECT_NEAR(x[j], y[j], 1e-4);
    EXPECT_THROW((void)(lsmr<double, cpu>(cpu{}, view(A), x, y)), argument_error);
}

/// Of a diagonal matrix the variances are known.
TEST(least_squares_by_lsqr, have_variances) {
    std::vector<index> at{0, 1, 2};
    const auto A = assemble<double>({3, 3}, at, at, host_vector<double>{1, 2, 4});
    const auto op = build(make_plan(A, cpu{}, {.transposed = true}), A);
    const host_vector<double> b{1, 1, 1};
    host_vector<double> x(3, 0.0), variance(3, 0.0);
    (void)lsqr<double, cpu>(cpu{}, *op, b, x, {.atol = 1e-12, .btol = 1e-12}, variance);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(variance[j], 1 / (A.val[j] * A.val[j]), 1e-10);
    host_vector<double> short_one(2);
    EXPECT_THROW((void)(lsqr<double, cpu>(cpu{}, *op, b, x, {}, short_one)), argument_error);
}

TEST(least_squares_over_ranks, are_those_of_one_process) {
    const auto A = random_matrix<double>(83, 31, 5);
    const auto b = random_vector<double>(83, 4);
    host_vector<double> want(31, 0.0);
    const least_squares_options o{.atol = 1e-11, .btol = 1e-11};
    (void)lsmr<double, cpu>(cpu{}, view(A), b, want, o);
    for (const int size : {2, 5})
        for (const bool by_lsqr : {false, true})
            on_ranks(size, [&](const communicator& ranks) {
                const cpu on{.threads = 1, .ranks = &ranks};
                const distributed<double, cpu> op(on, slice_of(ranks, view(A)));
                const auto rows = op.rows().of(ranks.rank());
                const std::span<const double> mine(b.data() + rows.first,
                                                   std::size_t(rows.last - rows.first));
                host_vector<double> x(std::size_t(op.shape().cols), 0.0);
                const auto report = by_lsqr ? lsqr<double, cpu>(on, op, mine, x, o)
                                            : lsmr<double, cpu>(on, op, mine, x, o);
                EXPECT_TRUE(report.converged()) << report.why;
                const auto all = joined<double>(ranks, x);
                if (ranks.rank() != 0) return;
                for (std::size_t j = 0; j < 31; ++j) EXPECT_NEAR(all[j], want[j], 1e-9);
            });
}

}  // namespace
}  // namespace nz::test
