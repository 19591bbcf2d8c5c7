// A solver that is kept over a sequence, against one that starts anew at every step.
#include "nonzero/solve/solver.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "bench/sequences.hpp"
#include "nonzero/core/gpu.hpp"
#include "test/systems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

system_options iterating(index block = 1) {
    system_options o;
    o.block = block, o.iterative = true;
    return o;
}

template <class T>
class solver_kept : public ::testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<T, gpu>)
            if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    T on{};
    static void expect_solved(const csr<double, host>& A, const host_vector<double>& x,
                              const host_vector<double>& b, double tol = 1e-8) {
        const auto r = residual_of<double>(A, x, b);
        EXPECT_LE(r.norm, 1.01 * tol * r.rhs + r.rounding);
    }
    /// Iterations of all steps but the first, kept and anew.
    struct totals {
        std::int64_t kept = 0, anew = 0;
    };
    totals run(const sequence& s, int steps, const system_options& o) {
        auto A = s.pattern();
        host_vector<double> x(std::size_t(A.shape.rows), 0), b(x);
        s.step(0, x, A, b);
        solver<double, T> kept(on, A, o);
        totals t;
        for (int k = 0; k < steps; ++k) {
            s.step(k, x, A, b);
            kept.take_values(A);
            auto from_guess = x;
            const auto anew = solver<double, T>(on, A, o).solve(b, from_guess);
            const auto report = kept.solve(b, x);
            EXPECT_TRUE(report.converged() && anew.converged()) << "step " << k;
            expect_solved(A, x, b);
            if (k > 0) t.kept += report.result().report.iterations;
            if (k > 0) t.anew += anew.result().report.iterations;
        }
        return t;
    }
};
using backends = ::testing::Types<cpu, gpu>;
TYPED_TEST_SUITE(solver_kept, backends);

void expect_few_more(std::int64_t kept, std::int64_t anew) {
    EXPECT_LE(double(kept), 1.1 * double(anew)) << kept << " against " << anew;
}

TYPED_TEST(solver_kept, takes_the_iterations_of_new_ones_for_a_moving_hot_spot) {
    const auto t = this->run(moving_hot_spot(48), 8, iterating());
    expect_few_more(t.kept, t.anew);
}
TYPED_TEST(solver_kept, takes_the_iterations_of_new_ones_for_a_p_laplacian) {
    const auto t = this->run(p_laplacian(48), 8, iterating());
    expect_few_more(t.kept, t.anew);
}
TYPED_TEST(solver_kept, takes_the_iterations_of_new_ones_for_a_turning_wind) {
    const auto t = this->run(turning_wind(48), 8, iterating());
    expect_few_more(t.kept, t.anew);
}
TYPED_TEST(solver_kept, takes_the_iterations_of_new_ones_for_changing_stiffness) {
    const auto t = this->run(changing_stiffness(24), 8, iterating(2));
    expect_few_more(t.kept, t.anew);
}

TYPED_TEST(solver_kept, makes_nothing_anew_for_another_right_hand_side) {
    const auto A = laplace2d<double>(60, 60);
    solver<double, TypeParam> s(this->on, A);
    for (unsigned seed = 1; seed < 4; ++seed) {
        const auto b = random_vector<double>(3600, seed);
        host_vector<double> x(3600, 0), once(3600, 0);
        const auto report = s.solve(b, x);
        solver<double, TypeParam>(this->on, A).solve(b, once);
        EXPECT_EQ(x, once);  // the same bits as of one that is made for it
        ASSERT_EQ(report.attempts.size(), 1U);
        EXPECT_TRUE(seed == 1 || report.result().preconditioner_s < 1e-3);
    }
}

/// Whether a solve made its preconditioner, rather than found it.
bool has_set_up(const system_report& r) { return r.result().preconditioner_s > 1e-3; }

/// Its matrices are hard and easy in turns, for new aggregates as well.
TYPED_TEST(solver_kept, sets_up_seldom_where_matrices_are_harder_in_turns) {
    const p_laplacian s(300);
    auto A = s.pattern();
    host_vector<double> x(std::size_t(A.shape.rows), 0), b(x);
    s.step(0, x, A, b);
    solver<double, TypeParam> kept(this->on, A, iterating());
    int setups = 0;
    for (int k = 0; k < 12; ++k) {
        s.step(k, x, A, b);
        kept.take_values(A);
        setups += has_set_up(kept.solve(b, x));
    }
    EXPECT_LE(setups, 3);
}

/// Couplings strong along one direction, then along the other.
TYPED_TEST(solver_kept, sets_up_where_aggregates_do_not_serve_any_more) {
    constexpr index n = 150;
    const auto coupled = [&](double along, double across) {
        auto A = laplace2d<double>(n, n);
        for (index i = 0; i < n * n; ++i)
            for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
                 k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k) {
                const index d = std::abs(A.col_ind[k] - i);
                A.val[k] = d == 0 ? 2 * (along + across) : d == 1 ? -along : -across;
            }
        return A;
    };
    const auto b = random_vector<double>(n * n, 1);
    solver<double, TypeParam> s(this->on, coupled(1, 0.01), iterating());
    const auto solved = [&](const csr<double, host>& A) {
        s.take_values(A);
        host_vector<double> x(b.size(), 0);
        auto report = s.solve(b, x);
        this->expect_solved(A, x, b);
        return report;
    };
    const auto A = coupled(1, 0.01), turned = coupled(0.01, 1);
    const auto first = solved(A), stale = solved(turned), anew = solved(turned);
    EXPECT_TRUE(has_set_up(first) && !has_set_up(stale) && has_set_up(anew));
    EXPECT_LT(2 * anew.result().report.iterations, stale.result().report.iterations);
}

TYPED_TEST(solver_kept, keeps_the_factors_of_a_direct_solver) {
    auto A = laplace2d<double>(20, 20);
    for (std::size_t k = 0; k < A.val.size(); k += 3) A.val[k] += 0.1;  // nonsymmetric, small
    solver<double, TypeParam> s(this->on, A);
    const auto b = random_vector<double>(400, 1);
    host_vector<double> x(400, 0);
    EXPECT_TRUE(s.solve(b, x).converged());
    this->expect_solved(A, x, b);
    for (double& v : A.val) v *= -2;  // negated inside
    s.take_values(A);
    const auto report = s.solve(b, x);
    EXPECT_TRUE(report.converged());
    this->expect_solved(A, x, b);
}

TYPED_TEST(solver_kept, tries_the_others_where_what_has_converged_does_not_any_more) {
    auto A = laplace2d<double>(30, 30);
    solver<double, TypeParam> s(this->on, A, iterating());
    const auto b = random_vector<double>(900, 1);
    host_vector<double> x(900, 0);
    EXPECT_EQ(s.solve(b, x).result().method, krylov_method::cg);
    for (index i = 0; i < 900; ++i)  // indefinite
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (A.col_ind[k] == i) A.val[k] = i % 2 == 0 ? 4 : -4;
    s.take_values(A);
    const auto report = s.solve(b, x);
    EXPECT_TRUE(report.converged());
    EXPECT_NE(report.result().method, krylov_method::cg);
    this->expect_solved(A, x, b);
}

TYPED_TEST(solver_kept, refuses_what_does_not_fit_and_stays_as_it_was) {
    const auto A = laplace2d<double>(20, 20);
    solver<double, TypeParam> s(this->on, A);
    const auto b = random_vector<double>(400, 1);
    host_vector<double> x(400, 0), again(400, 0), shorter(399, 0);
    EXPECT_TRUE(s.solve(b, x).converged());
    auto other = A;
    other.col_ind[2] = 5;
    EXPECT_THROW(s.take_values(other), argument_error);
    EXPECT_THROW(s.take_values(laplace2d<double>(20, 21)), argument_error);
    EXPECT_THROW(s.solve(b, shorter), argument_error);
    EXPECT_THROW(s.solve(shorter, x), argument_error);
    EXPECT_TRUE(s.solve(b, again).converged());
    EXPECT_EQ(again, x);
    other = A;
    other.val[0] = std::numeric_limits<double>::quiet_NaN();
    s.take_values(other);
    EXPECT_THROW(s.solve(b, again), argument_error);  // as nz::solve
    s.take_values(A);
    host_vector<double> fresh(400, 0);
    EXPECT_TRUE(s.solve(b, fresh).converged());
    this->expect_solved(A, fresh, b);
    EXPECT_THROW((solver<double, TypeParam>(
                     this->on, from_rule<double>(3, 4, [](index, index, double) { return true; }))),
                 unsuitable);
}

TEST(solver_of_threads, lets_them_take_turns) {
    const auto A = laplace2d<double>(40, 40);
    solver<double> s(cpu{.threads = 1}, A);
    host_vector<double> x[2] = {host_vector<double>(1600, 0), host_vector<double>(1600, 0)};
    const auto b = random_vector<double>(1600, 1);
    std::vector<std::thread> threads;
    for (auto& mine : x) threads.emplace_back([&] { EXPECT_TRUE(s.solve(b, mine).converged()); });
    for (auto& t : threads) t.join();
    EXPECT_EQ(x[0], x[1]);
}

}  // namespace
}  // namespace nz::test
