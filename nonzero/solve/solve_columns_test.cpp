// nz::solve and nz::solver on several right-hand sides: each within its bound, by one plan and one
// preconditioner, in step where the method suits that.
#include <gtest/gtest.h>

#include <limits>

#include "nonzero/core/gpu.hpp"
#include "nonzero/solve/solver.hpp"
#include "test/systems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class T>
class solve_columns : public ::testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<T, gpu>)
            if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    T on{};

    static host_vector<double> random_columns(std::size_t n, std::size_t count) {
        host_vector<double> all;
        for (unsigned c = 0; c < count; ++c) {
            const auto v = random_vector<double>(n, c + 1);
            all.insert(all.end(), v.begin(), v.end());
        }
        return all;
    }
    static in_columns<double, cpu> columns_of(const host_vector<double>& v, std::size_t n) {
        return {v, n, index(v.size() / n), storage_order::column_major};
    }
    static out_columns<double, cpu> to_columns_of(host_vector<double>& v, std::size_t n) {
        return {v, n, index(v.size() / n), storage_order::column_major};
    }
    static host_vector<double> column_of(const host_vector<double>& v, std::size_t n,
                                         std::size_t c) {
        return {v.begin() + std::ptrdiff_t(c * n), v.begin() + std::ptrdiff_t((c + 1) * n)};
    }
    static void expect_solved(const csr<double, host>& A, const host_vector<double>& x,
                              const host_vector<double>& b,
                              const std::vector<system_report>& reports) {
        const auto n = std::size_t(A.shape.rows);
        ASSERT_EQ(reports.size(), b.size() / n);
        for (std::size_t c = 0; c < reports.size(); ++c) {
            SCOPED_TRACE(c);
            const auto r = residual_of(A, column_of(x, n, c), column_of(b, n, c));
            EXPECT_TRUE(reports[c].converged()) << reports[c].result().report.why;
            EXPECT_LE(r.norm, 1e-8 * double(r.rhs) + r.rounding);
            EXPECT_NEAR(reports[c].result().report.relative, double(r.norm / r.rhs),
                        1e-9 + double(r.rounding / r.rhs));
        }
    }
};
using backends = ::testing::Types<cpu, gpu>;
TYPED_TEST_SUITE(solve_columns, backends);

TYPED_TEST(solve_columns, go_in_step_where_cg_comes_first) {
    const auto A = laplace2d<double>(60, 50);
    const auto b = this->random_columns(3000, 70);
    host_vector<double> x(b.size(), 0);
    const auto reports =
        solve<double>(this->on, view(A), this->columns_of(b, 3000), this->to_columns_of(x, 3000));
    this->expect_solved(A, x, b, reports);
    for (const auto& r : reports) {
        ASSERT_EQ(r.attempts.size(), 1U);
        EXPECT_EQ(r.result().method, krylov_method::cg);
        EXPECT_EQ(r.result().preconditioner, preconditioning::amg);
    }
}

TYPED_TEST(solve_columns, of_every_kind_of_matrix_are_solved) {
    auto negative = laplace2d<double>(20, 20);
    for (double& v : negative.val) v = -v;
    const auto indefinite = kkt(laplace2d<double>(12, 11), 40);
    const auto general = convected(laplace2d<double>(31, 17));
    for (const auto& A : {negative, indefinite, general}) {
        const auto n = std::size_t(A.shape.rows);
        const auto b = this->random_columns(n, 5);
        for (const bool iterative : {false, true}) {
            system_options o;
            o.iterative = iterative;
            host_vector<double> x(b.size(), 0);
            const auto reports = solve<double>(this->on, view(A), this->columns_of(b, n),
                                               this->to_columns_of(x, n), o);
            this->expect_solved(A, x, b, reports);
        }
    }
}

TYPED_TEST(solve_columns, by_rows_or_by_columns_are_the_same) {
    const auto A = laplace2d<double>(20, 15);
    const std::size_t n = 300, count = 4;
    const auto b = this->random_columns(n, count);
    host_vector<double> x(b.size(), 0), by_rows(n * (count + 1), 0), x_by_rows(by_rows);
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t i = 0; i < n; ++i) by_rows[i * (count + 1) + c] = b[c * n + i];
    using enum storage_order;
    solve<double>(this->on, view(A), this->columns_of(b, n), this->to_columns_of(x, n));
    solve<double>(this->on, view(A), {by_rows, count + 1, index(count), row_major},
                  {x_by_rows, count + 1, index(count), row_major});
    for (std::size_t c = 0; c < count; ++c)
        for (std::size_t i = 0; i < n; ++i) EXPECT_EQ(x[c * n + i], x_by_rows[i * (count + 1) + c]);
}

TYPED_TEST(solve_columns, that_are_awkward_are_no_matter_to_others) {
    const auto A = laplace2d<double>(30, 20);
    const std::size_t n = 600;
    auto b = this->random_columns(n, 6);
    std::fill_n(b.begin() + n, n, 0.0);
    b[2 * n + 7] = std::numeric_limits<double>::quiet_NaN();
    host_vector<double> x(b.size(), 0);
    const auto reports =
        solve<double>(this->on, view(A), this->columns_of(b, n), this->to_columns_of(x, n));
    for (const std::size_t c : {0U, 1U, 3U, 4U, 5U}) EXPECT_TRUE(reports[c].converged()) << c;
    EXPECT_FALSE(reports[2].converged());
    EXPECT_EQ(this->column_of(x, n, 1), host_vector<double>(n, 0));
}

TYPED_TEST(solve_columns, are_kept_by_a_solver) {
    auto A = laplace2d<double>(50, 40);
    const std::size_t n = 2000;
    solver<double, TypeParam> s(this->on, A);
    const auto b = this->random_columns(n, 10);
    host_vector<double> x(b.size(), 0), one(n, 0);
    EXPECT_TRUE(s.solve(this->column_of(b, n, 0), one).converged());
    const auto reports = s.solve(this->columns_of(b, n), this->to_columns_of(x, n));
    this->expect_solved(A, x, b, reports);
    for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] *= 2;
    s.take_values(A);
    std::ranges::fill(x, 0.0);
    const auto again = s.solve(this->columns_of(b, n), this->to_columns_of(x, n));
    this->expect_solved(A, x, b, again);
    EXPECT_LT(again[0].result().preconditioner_s, 1e-3);
    EXPECT_TRUE(s.solve(this->column_of(b, n, 1), one).converged());
}

TYPED_TEST(solve_columns, all_end_where_the_monitor_says_so) {
    const auto A = laplace2d<double>(60, 60);
    const std::size_t n = 3600;
    const auto b = this->random_columns(n, 70);
    host_vector<double> x(b.size(), 0);
    system_options o;
    int calls = 0;
    o.monitor = [&](std::int64_t, double) { return ++calls < 3; };
    const auto reports =
        solve<double>(this->on, view(A), this->columns_of(b, n), this->to_columns_of(x, n), o);
    EXPECT_EQ(calls, 3);
    for (const auto& r : reports) EXPECT_EQ(r.result().report.status, status::stopped_by_caller);
}

TYPED_TEST(solve_columns, refuse_what_does_not_fit) {
    const auto A = laplace2d<double>(4, 3);
    const host_vector<double> b(36, 1);
    host_vector<double> x(36, 0);
    const auto run = [&](const in_columns<double, cpu>& from, const out_columns<double, cpu>& to) {
        return solve<double>(this->on, view(A), from, to);
    };
    EXPECT_TRUE(run({b, 12, 0}, {x, 12, 0}).empty());
    EXPECT_EQ(run({b, 12, 3}, {x, 12, 3}).size(), 3U);
    EXPECT_THROW(run({b, 12, 3}, {x, 12, 2}), argument_error);
    EXPECT_THROW(run({b, 12, 4}, {x, 12, 4}), argument_error);
    EXPECT_THROW(run({b, 11, 3}, {x, 12, 3}), argument_error);
    EXPECT_THROW(run({b, 12, -1}, {x, 12, -1}), argument_error);
}

}  // namespace
}  // namespace nz::test
