// Loops take all threads or one: those that a loop left out would be ended, and new ones started
// for the next loop (docs/decisions/threads.md).
#include <gtest/gtest.h>
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <thread>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/order.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/plan/estimate_stats.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/solve/eigs/vector_basis.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "nonzero/solve/solve.hpp"
#include "nonzero/vector/fused.hpp"

namespace nz::test {
namespace {

constexpr int all_threads = 8;

/// The system's numbers of the threads that run a loop of all.
std::set<pid_t> team() {
    std::set<pid_t> ids;
#pragma omp parallel num_threads(all_threads)
#pragma omp critical
    ids.insert(gettid());
    return ids;
}

class threads : public ::testing::Test {
  protected:
    threads() : before_(omp_get_max_threads()) { omp_set_num_threads(all_threads); }
    ~threads() override { omp_set_num_threads(before_); }

  private:
    int before_;
};

TEST_F(threads, stay_alive_beside_vectors_of_any_length) {
    const auto alive = team();
    for (const std::int64_t blocks : {1, 2, 3, 7, 8, 20}) {
        vector_space<double, cpu> space({}, blocks * fused_block);
        const auto x = space.zero();
        EXPECT_EQ(space.dot(x, x), 0);
        EXPECT_EQ(team(), alive) << blocks;
    }
}

TEST_F(threads, stay_alive_beside_every_method) {
    const auto alive = team();
    for (const auto& A : {laplace2d<double>(7, 5), laplace2d<double>(60, 60)}) {
        host_vector<double> x(std::size_t(A.shape.cols), 1.0), y(x.size());
        int ran = 0;
        for (const method<double>& m : methods<double>()) {
            if (m.on_cpu == nullptr) continue;
            try {
                build(m, cpu{}, view(A))->apply(1, x, 0, y);
            } catch (const argument_error&) {
                continue;  // a layout that declines the matrix
            }
            EXPECT_EQ(team(), alive) << m.name;
            ++ran;
        }
        EXPECT_GE(ran, 20);
    }
}

TEST_F(threads, stay_alive_beside_plans_and_solvers) {
    const auto A = laplace3d<double>(24, 24, 24);  // vectors of four blocks
    const auto alive = team();
    const auto op = build(make_plan(A, cpu{}), A);
    EXPECT_EQ(team(), alive) << "plan";
    const amg<double, cpu> M(A, cpu{}, {}, {}, op.get());
    EXPECT_EQ(team(), alive) << "setup of multigrid";
    host_vector<double> b(std::size_t(A.shape.rows), 1.0), x(b.size(), 0.0);
    EXPECT_TRUE((cg<double, cpu>(cpu{}, *op, M, b, x).converged));
    EXPECT_EQ(team(), alive) << "solve";
    const pagerank_graph<double, cpu> graph(cpu{}, view(A),
                                            pagerank_options::links::row_links_to_column);
    EXPECT_TRUE(graph.rank().report.converged);
    EXPECT_EQ(team(), alive) << "PageRank";
}

/// Threads of this process, by the system's numbers.
std::set<std::string> alive_threads() {
    std::set<std::string> all;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task"))
        all.insert(task.path().filename());
    return all;
}

TEST(one_thread, is_what_a_plan_for_one_takes) {
    auto A = laplace3d<double>(24, 24, 24);
    // A thread for which OpenMP has not started any yet.
    std::thread([&] {
        omp_set_num_threads(all_threads);
        const auto before = alive_threads();
        const plan_options tuned{.tune = true, .cache = false, .tune_s = 1e-3};
        for (const plan_options& how : {plan_options{}, plan_options{.transposed = true}, tuned}) {
            const auto p = make_plan(A, cpu{1}, how);
            auto op = build(p, A);
            host_vector<double> x(std::size_t(A.shape.cols), 1.0), y(x.size());
            op->apply(1, x, 0, y);
            for (double& v : A.val) v *= 2;
            update_values(op, p, view(A));
            // One of an earlier test may end meanwhile.
            EXPECT_TRUE(std::ranges::includes(before, alive_threads()));
        }
        EXPECT_EQ(omp_get_max_threads(), all_threads);  // the user's own loops take all
    }).join();
}

TEST(one_thread, is_what_small_matrices_and_short_vectors_take) {
    const auto A = laplace2d<double>(18, 18);
    const auto M = view(A);
    const auto starts_none = [](const char* what, auto f) {
        // A thread for which OpenMP has not started any yet.
        std::thread([&] {
            omp_set_num_threads(all_threads);
            const auto before = alive_threads();
            f();
            // One of an earlier test may end meanwhile.
            EXPECT_TRUE(std::ranges::includes(before, alive_threads())) << what;
            EXPECT_EQ(omp_get_max_threads(), all_threads) << what;
        }).join();
    };
    starts_none("order", [&] { EXPECT_EQ(order_of(cpu{}, M), row_order::ascending); });
    starts_none("stats", [&] {
        EXPECT_EQ(estimate_stats(ascending<double>::known(M), cpu{}).nnz, std::ssize(A.val));
    });
    starts_none("definite", [&] { EXPECT_EQ(why_not_definite(M), ""); });
    starts_none("symmetry", [&] { EXPECT_TRUE(is_symmetric(M)); });
    starts_none("Jacobi", [&] { EXPECT_EQ(jacobi(cpu{}, M)->shape().rows, 324); });
    starts_none("ilu", [&] { EXPECT_EQ(ilu(cpu{}, M)->shape().rows, 324); });
    starts_none("ic", [&] { EXPECT_EQ(ic(cpu{}, M)->shape().rows, 324); });
    starts_none("packed", [&] { EXPECT_EQ((packed<double, host>::from(M).shape.rows), 324); });
    starts_none("inverse", [&] { EXPECT_EQ(pseudo_inverse(cpu{}, M).shape.rows, 324); });
    const host_vector<double> b(324, 1.0);
    for (const auto how : {krylov_method::cg, krylov_method::bicgstab, krylov_method::direct}) {
        host_vector<double> x(b.size(), 0.0);
        system_options o;
        o.method = how;
        starts_none("solve", [&] {
            EXPECT_TRUE((solve<double, cpu>({}, M, b, std::span<double>(x), o).converged()));
        });
    }
    starts_none("vectors", [&] {
        vector_space<double, cpu> space({}, (worth_threads - 1) * fused_block);
        const auto x = space.zero();
        EXPECT_EQ(space.dot(x, x), 0);
    });
}

/// One vector of that length is not worth a thread, and many are.
TEST(threads_of_a_basis, are_as_many_as_its_vectors_pay_for) {
    std::thread([] {
        omp_set_num_threads(all_threads);
        const std::int64_t n = (worth_threads - 1) * fused_block;
        vector_basis<double, cpu> basis(cpu{}, n, 32);
        const host_vector<double> w(std::size_t(n), 1.0);
        const auto before = alive_threads();
        basis.project(1, w);
        EXPECT_EQ(alive_threads(), before);
        basis.project(32, w);
        EXPECT_GE(alive_threads().size(), before.size() + all_threads - 1);
    }).join();
}

/// Result of f in a child that forks here; -1 where the child hangs or crashes.
int in_child(const std::function<int()>& f) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::alarm(60);
        ::_exit(f());
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST_F(threads, that_a_fork_leaves_behind_are_not_waited_for) {
    const auto A = laplace3d<double>(16, 16, 16);
    const host_vector<double> x(std::size_t(A.shape.cols), 1.0);
    host_vector<double> expected(x.size()), y(x.size());
    const auto op = build(make_plan(A, cpu{}), A);
    op->apply(1, x, 0, expected);
    EXPECT_EQ(in_child([&] {
                  op->apply(1, x, 0, y);  // built before, by all threads
                  if (y != expected) return 1;
                  const auto another = build(make_plan(A, cpu{4}), A);
                  another->apply(1, x, 0, y);
                  if (y != expected) return 2;
                  y.assign(y.size(), 0);
                  const amg<double, cpu> M(A, cpu{}, {}, {}, another.get());
                  return (cg<double, cpu>(cpu{}, *another, M, x, y).converged) ? 0 : 3;
              }),
              0);
    EXPECT_GT(team().size(), 1U);  // the parent has its threads still
}

TEST_F(threads, that_a_fork_leaves_behind_are_not_waited_for_by_any_method) {
    const auto A = laplace2d<double>(60, 60);
    const host_vector<double> x(std::size_t(A.shape.cols), 1.0);
    const matrix_stats stats = compute_stats(view(A));
    for (const method<double>& m : methods<double>()) {
        if (m.on_cpu == nullptr || !m.cost(stats).declined.empty()) continue;
        const auto op = build(m, cpu{}, view(A));
        host_vector<double> expected(x.size()), y(x.size());
        op->apply(1, x, 0, expected);
        EXPECT_EQ(in_child([&] {
                      op->apply(1, x, 0, y);
                      build(m, cpu{4}, view(A))->apply(1, x, 0, y);
                      // Sums of integers are exact in any order.
                      return y == expected ? 0 : 1;
                  }),
                  0)
            << m.name;
    }
}

TEST_F(threads, that_a_fork_leaves_behind_are_not_waited_for_by_factors) {
    const auto A = laplace3d<double>(24, 24, 24);
    const host_vector<double> x(std::size_t(A.shape.cols), 1.0);
    host_vector<double> expected(x.size()), y(x.size());
    const auto M = ilu(cpu{}, view(A));
    const auto alive = team();
    M->apply(1, x, 0, expected);
    EXPECT_EQ(team(), alive);
    EXPECT_EQ(in_child([&] {
                  M->apply(1, x, 0, y);
                  if (y != expected) return 1;
                  ilu(cpu{4}, view(A))->apply(1, x, 0, y);
                  return y == expected ? 0 : 2;
              }),
              0);
}

TEST(a_fork, before_any_use_costs_no_threads) {
    std::thread([] {
        EXPECT_EQ(in_child([] {
                      omp_set_num_threads(all_threads);
                      return thread_count(cpu{}) == all_threads ? 0 : 1;
                  }),
                  0);
    }).join();
}

}  // namespace
}  // namespace nz::test
