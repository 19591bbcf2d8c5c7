// The solvers over ranks: what they find, and that all ranks end together.
#include <gtest/gtest.h>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/preconditioners/function_operator.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"
#include "test/files.hpp"
#include "test/systems.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

template <class V>
class krylov_over_ranks : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(krylov_over_ranks, value_types);

template <class V>
using solver = solve_report (*)(cpu, const linear_operator<V, cpu>&, const linear_operator<V, cpu>&,
                                in<V, cpu>, out<V, cpu>, const solve_options&);
template <class V>
solve_report by_gmres(cpu on, const linear_operator<V, cpu>& A, const linear_operator<V, cpu>& M,
                      in<V, cpu> b, out<V, cpu> x, const solve_options& o) {
    gmres_options all;
    static_cast<solve_options&>(all) = o;
    return gmres<V, cpu>(on, A, M, b, x, all);
}

template <class V>
struct solved {
    host_vector<V> x;
    solve_report report;
};

/// The system with Jacobi's preconditioner over so many ranks: x whole, rank 0's report.
template <class V>
solved<V> solve_over(int size, const linear_system<V>& system, solver<V> solve,
                     const solve_options& o) {
    solved<V> all;
    on_ranks(size, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks}, alone{.threads = 1};
        auto slice = slice_of(ranks, view(system.A));
        const auto M = jacobi(alone, view(own_block(slice, ranks.rank())));
        const distributed<V, cpu> A(on, std::move(slice));
        const auto b = slice_of<V>(A.rows(), ranks.rank(), system.b);
        host_vector<V> x(b.size(), V(0));
        const auto report = solve(on, A, *M, b, x, o);
        auto whole = joined<V>(ranks, x);
        if (ranks.rank() == 0) all = {std::move(whole), report};
    });
    return all;
}

template <class V>
void expect_solved(const std::vector<linear_system<V>>& systems, solver<V> solve) {
    const solve_options o{.tol = std::is_same_v<real<V>, float> ? 1e-4 : 1e-10, .max_iter = 3000};
    for (const auto& system : systems) {
        const auto alone = solve_over(1, system, solve, o);
        for (const int size : {2, 5}) {
            SCOPED_TRACE(system.name + ", " + std::to_string(size) + " ranks");
            const auto got = solve_over(size, system, solve, o);
            const auto again = solve_over(size, system, solve, o);
            EXPECT_TRUE(got.report.converged) << got.report.why;
            EXPECT_TRUE(same_bits<V>(got.x, again.x));
            EXPECT_EQ(got.report.history, again.report.history);
            const auto r = residual_of<V>(system.A, got.x, system.b);
            EXPECT_LE(r.norm, 1.01 * o.tol_of<double>() * r.rhs + r.rounding);
            // Sums round otherwise, so the number of iterations may differ by a few.
            EXPECT_NEAR(double(got.report.iterations), double(alone.report.iterations),
                        3 + 0.1 * double(alone.report.iterations));
        }
    }
}

TYPED_TEST(krylov_over_ranks, cg) {
    expect_solved<TypeParam>(definite_systems<TypeParam>(), cg<TypeParam, cpu>);
}

TYPED_TEST(krylov_over_ranks, minres) {
    using V = TypeParam;
    // Jacobi's preconditioner must be positive definite for it.
    expect_solved<V>(definite_systems<V>(), minres<V, cpu>);
}
TYPED_TEST(krylov_over_ranks, bicgstab) {
    expect_solved<TypeParam>(general_systems<TypeParam>(), bicgstab<TypeParam, cpu>);
}
TYPED_TEST(krylov_over_ranks, gmres) {
    expect_solved<TypeParam>(general_systems<TypeParam>(), by_gmres<TypeParam>);
}

/// f(solver, its name) for all of them.
template <class F>
void for_each_solver(F f) {
    f(solver<double>(cg<double, cpu>), "cg");
    f(solver<double>(minres<double, cpu>), "minres");
    f(solver<double>(bicgstab<double, cpu>), "bicgstab");
    f(by_gmres<double>, "gmres");
}

TEST(krylov_over_ranks, more_ranks_than_rows) {
    const auto system = manufactured("small", laplace2d<double>(2, 1));
    for_each_solver([&](solver<double> solve, const char* name) {
        const auto got = solve_over(6, system, solve, {});
        EXPECT_TRUE(got.report.converged) << name << ": " << got.report.why;
    });
}

/// How often a solver stopped by the monitor of one rank of three called it, and why it ended.
struct stopped {
    std::vector<std::int64_t> calls = std::vector<std::int64_t>(3, 0);
    std::vector<std::string> why = std::vector<std::string>(3);
};
stopped stopped_by_one(solver<double> solve, const solve_options& options, int by) {
    const auto system = manufactured("laplace", laplace2d<double>(40, 40));
    stopped all;
    on_ranks(3, [&](const communicator& ranks) {
        const auto me = std::size_t(ranks.rank());
        const cpu on{.threads = 1, .ranks = &ranks};
        const distributed<double, cpu> A(on, slice_of(ranks, view(system.A)));
        const auto M = make_operator<double>(
            cpu{1}, A.shape(), [](auto v, auto to) { std::copy(v.begin(), v.end(), to.begin()); });
        const auto b = slice_of<double>(A.rows(), ranks.rank(), system.b);
        host_vector<double> x(b.size(), 0);
        solve_options o = options;
        if (ranks.rank() == by)
            o.monitor = [&](std::int64_t k, double) { return ++all.calls[me], k < 5; };
        all.why[me] = solve(on, A, M, b, x, o).why;
    });
    return all;
}

TEST(krylov_over_ranks, all_stop_where_one_rank_is_told_to) {
    for_each_solver([&](solver<double> solve, const char* name) {
        for (const int by : {0, 2}) {
            const stopped s = stopped_by_one(solve, {.tol = 1e-12}, by);
            for (const std::string& why : s.why) EXPECT_EQ(why, "stopped by the caller") << name;
            EXPECT_GE(s.calls[std::size_t(by)], 5) << name;
        }
    });
}

/// Rank 0's report of nz::solve over three ranks, whose x is held to its tolerance.
system_report solved_by_choice(const linear_system<double>& system, const system_options& o) {
    system_report all;
    on_ranks(3, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        auto slice = slice_of(ranks, view(system.A));
        const auto b = slice_of<double>(slice.rows, ranks.rank(), system.b);
        host_vector<double> x(b.size(), 0);
        auto report = nz::solve<double>(on, std::move(slice), b, x, o);
        const auto whole = joined<double>(ranks, x);
        if (ranks.rank() != 0) return;
        const auto r = residual_of<double>(system.A, whole, system.b);
        EXPECT_LE(r.norm, 1.01 * o.tol_of<double>() * r.rhs) << system.name;
        all = std::move(report);
    });
    return all;
}

TEST(solve_over_ranks, chooses_by_what_all_ranks_see) {
    const auto method = [](const linear_system<double>& system, system_options o = {}) {
        o.iterative = true;  // the direct solver would come first
        const auto report = solved_by_choice(system, o);
        EXPECT_TRUE(report.converged()) << system.name << ": " << report.result().report.why;
        return report.attempts.front().method;
    };
    const auto definite = manufactured("definite", laplace2d<double>(21, 17));
    EXPECT_EQ(method(definite), krylov_method::cg);
    EXPECT_EQ(method(manufactured("kkt", kkt(laplace2d<double>(12, 11), 40))),
              krylov_method::minres);
    EXPECT_EQ(method(manufactured("convection", convected(laplace2d<double>(31, 17)))),
              krylov_method::bicgstab);
    for (const auto p :
         {preconditioning::none, preconditioning::jacobi, preconditioning::block_jacobi,
          preconditioning::gauss_seidel, preconditioning::amg}) {
        system_options o;
        o.preconditioner = p, o.block = p == preconditioning::block_jacobi ? 3 : 1;
        EXPECT_EQ(method(definite, o), krylov_method::cg) << name_of(p);
    }
}

TEST(solve_over_ranks, negates_a_matrix_whose_diagonal_is_negative_on_all_ranks) {
    auto system = manufactured("negative", laplace2d<double>(21, 17));
    for (double& v : system.A.val) v = -v;
    for (double& v : system.b) v = -v;
    for (const auto p :
         {preconditioning::jacobi, preconditioning::gauss_seidel, preconditioning::amg}) {
        system_options o;
        o.preconditioner = p;
        const auto report = solved_by_choice(system, o);
        EXPECT_TRUE(report.negated && report.converged()) << name_of(p);
        EXPECT_EQ(report.attempts.front().method, krylov_method::cg) << name_of(p);
    }
    // Negative on two ranks of three.
    for (index i = 0; i < 21; ++i)
        for (auto k = std::size_t(system.A.row_ptr[std::size_t(i)]);
             k < std::size_t(system.A.row_ptr[std::size_t(i) + 1]); ++k)
            if (system.A.col_ind[k] == i) system.A.val[k] = 4;
    const auto mixed = solved_by_choice(manufactured("mixed", std::move(system.A)), {});
    EXPECT_FALSE(mixed.negated);
}

TEST(solve_over_ranks, says_on_all_ranks_what_does_not_suit) {
    const auto system = manufactured("convection", convected(laplace2d<double>(9, 8)));
    for (const auto m : {krylov_method::cg, krylov_method::minres}) {
        system_options o;
        o.method = m;
        for (const auto& t : thrown_on_ranks(3, [&](const communicator& ranks) {
                 auto slice = slice_of(ranks, view(system.A));
                 const auto b = slice_of<double>(slice.rows, ranks.rank(), system.b);
                 host_vector<double> x(b.size(), 0);
                 (void)nz::solve<double>(cpu{.threads = 1, .ranks = &ranks}, std::move(slice), b, x,
                                         o);
             }))
            EXPECT_NE(text_of(t).find("A is not symmetric"), std::string::npos) << text_of(t);
    }
}

TEST(krylov_over_ranks, ranks_that_disagree_about_options_are_told) {
    const auto system = manufactured("laplace", laplace2d<double>(5, 5));
    for_each_solver([&](solver<double> solve, const std::string& name) {
        const auto thrown = thrown_on_ranks(3, [&](const communicator& ranks) {
            const cpu on{.threads = 1, .ranks = &ranks};
            const distributed<double, cpu> A(on, slice_of(ranks, view(system.A)));
            const auto b = slice_of<double>(A.rows(), ranks.rank(), system.b);
            host_vector<double> x(b.size(), 0);
            (void)solve(on, A, A, b, x, {.max_iter = ranks.rank() == 1 ? 7 : 8});
        });
        for (const auto& t : thrown)
            EXPECT_EQ(text_of(t), name + ": rank 1 was given other arguments than rank 0");
    });
}

TEST(krylov_over_ranks, a_wrong_length_on_one_rank_is_told_to_all) {
    const auto system = manufactured("laplace", laplace2d<double>(5, 5));
    const auto thrown = thrown_on_ranks(3, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        const distributed<double, cpu> A(on, slice_of(ranks, view(system.A)));
        const auto b = slice_of<double>(A.rows(), ranks.rank(), system.b);
        host_vector<double> x(b.size() + (ranks.rank() == 2 ? 1 : 0), 0);
        (void)cg<double, cpu>(on, A, b, x);
    });
    for (const auto& t : thrown) EXPECT_EQ(text_of(t).find("cg: a vector of"), 0U) << text_of(t);
}

}  // namespace
}  // namespace nz::test
