// Block CG against CG in step: fewer iterations, each system within its bound.
#include "nonzero/solve/krylov/columns/block_cg.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/core/threads.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/systems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

template <class V>
class block_of_cg : public ::testing::Test {
  protected:
    static constexpr double tol = std::is_same_v<real<V>, float> ? 1e-4 : 1e-10;
    using op = linear_operator<V, cpu>;

    static host_vector<V> random_columns(std::size_t n, std::size_t count) {
        host_vector<V> all;
        for (unsigned c = 0; c < count; ++c)
            for (const V v : random_vector<V>(n, c + 1)) all.push_back(v);
        return all;
    }
    static host_vector<V> column(const host_vector<V>& all, std::size_t n, std::size_t c) {
        return {all.begin() + long(c * n), all.begin() + long((c + 1) * n)};
    }
    static std::vector<solve_report> run(const op& A, const op* M, const host_vector<V>& b,
                                         host_vector<V>& x, solve_options o = {}) {
        const auto n = std::size_t(A.shape().rows);
        if (!o.tol) o.tol = tol;
        return block_cg<V>(cpu{}, A, M, {b, n, index(b.size() / n)}, {x, n, index(b.size() / n)},
                           o);
    }
    static void expect_solved(const csr<V, host>& A, const host_vector<V>& x,
                              const host_vector<V>& b, const solve_report& report) {
        const auto r = residual_of(A, x, b);
        EXPECT_TRUE(report.converged) << report.why;
        EXPECT_LE(double(r.norm), tol * double(r.rhs) + double(r.rounding));
        EXPECT_EQ(report.history.size(), std::size_t(report.iterations) + 1);
    }
};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(block_of_cg, values);

TYPED_TEST(block_of_cg, solves_each_within_its_bound) {
    using V = TypeParam;
    for (const auto& [name, A, b0] : definite_systems<V>()) {
        SCOPED_TRACE(name);
        const auto n = std::size_t(A.shape.rows);
        const auto product = build(make_plan(A, cpu{}, {.vectors = 8}), A);
        const auto J = jacobi(cpu{}, view(A));
        for (const std::size_t count : {3U, 19U})
            for (const auto* M : {static_cast<const decltype(J.get())>(nullptr), J.get()}) {
                const auto b = this->random_columns(n, count);
                host_vector<V> x(b.size(), V(0));
                const auto reports = this->run(*product, M, b, x);
                for (std::size_t c = 0; c < count; ++c)
                    this->expect_solved(A, this->column(x, n, c), this->column(b, n, c),
                                        reports[c]);
            }
    }
}

TYPED_TEST(block_of_cg, takes_fewer_iterations_than_in_step) {
    using V = TypeParam;
    const auto A = rotated(laplace2d<V>(80, 70));
    const std::size_t n = 5600, count = 8;
    const auto product = build(make_plan(A, cpu{}, {.vectors = 8}), A);
    const auto b = this->random_columns(n, count);
    host_vector<V> x(b.size(), V(0)), in_step(x);
    const auto reports = this->run(*product, nullptr, b, x);
    solve_options o;
    o.tol = this->tol;
    const auto others = cg<V, cpu>(cpu{}, *product, {b, n, 8}, {in_step, n, 8}, o);
    std::int64_t most = 0, most_in_step = 0;
    for (std::size_t c = 0; c < count; ++c) {
        this->expect_solved(A, this->column(x, n, c), this->column(b, n, c), reports[c]);
        most = std::max(most, reports[c].iterations);
        most_in_step = std::max(most_in_step, others[c].iterations);
    }
    this->RecordProperty("iterations", int(most));
    this->RecordProperty("iterations_in_step", int(most_in_step));
    EXPECT_LT(double(most), 0.8 * double(most_in_step)) << most << " against " << most_in_step;
}

TYPED_TEST(block_of_cg, takes_dependent_right_hand_sides) {
    using V = TypeParam;
    const auto A = rotated(laplace2d<V>(40, 30));
    const std::size_t n = 1200, count = 8;
    const auto product = build(make_plan(A, cpu{}, {.vectors = 8}), A);
    auto b = this->random_columns(n, count);
    for (std::size_t i = 0; i < n; ++i) {
        b[1 * n + i] = b[i];                                  // the same
        b[2 * n + i] = V(real<V>(-3)) * b[i] + b[3 * n + i];  // a sum
        b[4 * n + i] = V(0);                                  // nothing
        b[5 * n + i] = V(real<V>(1e-6)) * b[3 * n + i];       // much smaller
    }
    host_vector<V> x(b.size(), V(0));
    const auto reports = this->run(*product, nullptr, b, x);
    for (std::size_t c = 0; c < count; ++c) {
        SCOPED_TRACE(c);
        this->expect_solved(A, this->column(x, n, c), this->column(b, n, c), reports[c]);
    }
    b[6 * n + 7] = V(std::numeric_limits<real<V>>::quiet_NaN());
    std::ranges::fill(x, V(0));
    const auto others = this->run(*product, nullptr, b, x);
    for (std::size_t c = 0; c < count; ++c) EXPECT_EQ(others[c].converged, c != 6) << c;
}

TYPED_TEST(block_of_cg, has_the_same_bits_for_any_number_of_threads) {
    using V = TypeParam;
    const auto A = rotated(laplace2d<V>(150, 140));
    const std::size_t n = 21000, count = 5;
    const auto b = this->random_columns(n, count);
    host_vector<V> first;
    std::vector<solve_report> told;
    for (const int threads : {1, 2, 3, 1}) {
        const cpu on{.threads = threads};
        const auto product = build(find_method<V>("csr.balanced"), on, view(A));
        host_vector<V> x(b.size(), V(0));
        solve_options o;
        o.max_iter = 40;
        const auto reports = block_cg<V>(on, *product, nullptr, {b, n, 5}, {x, n, 5}, o);
        if (first.empty()) first = x, told = reports;
        EXPECT_EQ(x, first) << threads;
        EXPECT_EQ(reports[2].history, told[2].history) << threads;
        EXPECT_EQ(reports[2].status, status::max_iter);
        EXPECT_EQ(reports[2].iterations, 40);
    }
}

TYPED_TEST(block_of_cg, ends_where_it_should) {
    using V = TypeParam;
    const auto A = rotated(laplace2d<V>(40, 30));
    const std::size_t n = 1200;
    const auto product = build(make_plan(A, cpu{}, {.vectors = 8}), A);
    const auto b = this->random_columns(n, 4);
    host_vector<V> x(b.size(), V(0));
    solve_options o;
    int calls = 0;
    o.monitor = [&](std::int64_t, double) { return ++calls < 5; };
    for (const auto& r : this->run(*product, nullptr, b, x, o))
        EXPECT_EQ(r.status, status::stopped_by_caller);
    EXPECT_EQ(calls, 5);
    o.monitor = {}, o.max_seconds = 0;
    for (const auto& r : this->run(*product, nullptr, b, x, o))
        EXPECT_EQ(r.status, status::max_seconds);
    // Indefinite: each by itself says so.
    const auto S = rotated(shifted(laplace2d<V>(40, 30), real<V>(1.7)));
    const auto indefinite = build(make_plan(S, cpu{}, {.vectors = 8}), S);
    for (const auto& r : this->run(*indefinite, nullptr, b, x)) {
        EXPECT_FALSE(r.converged);
        EXPECT_EQ(r.status, status::indefinite_matrix);
    }
    EXPECT_THROW(block_cg<V>(cpu{}, *product, nullptr, {b, n, 4}, {x, n, 3}), argument_error);
}

TYPED_TEST(block_of_cg, is_an_option_of_solve) {
    using V = TypeParam;
    const auto A = rotated(laplace3d<V>(14, 13, 12));
    const std::size_t n = 2184, count = 8;
    const auto b = this->random_columns(n, count);
    system_options o;
    o.tol = this->tol, o.method = krylov_method::cg, o.preconditioner = preconditioning::jacobi;
    std::int64_t iterations[2] = {0, 0};
    for (const bool block : {false, true}) {
        o.block_cg = block;
        host_vector<V> x(b.size(), V(0));
        const auto reports = solve<V>(cpu{}, view(A), {b, n, 8}, {x, n, 8}, o);
        for (std::size_t c = 0; c < count; ++c) {
            this->expect_solved(A, this->column(x, n, c), this->column(b, n, c),
                                reports[c].result().report);
            iterations[block] = std::max(iterations[block], reports[c].result().report.iterations);
        }
    }
    EXPECT_LT(iterations[1], iterations[0]);
}

}  // namespace
}  // namespace nz::test
