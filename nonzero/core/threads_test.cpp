// Loops take all threads or one: those that a loop left out would be ended, and new ones started
// for the next loop (docs/decisions/threads.md).
#include <gtest/gtest.h>
#include <omp.h>
#include <unistd.h>

#include <set>

#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/amg.hpp"
#include "nonzero/solve/cg.hpp"
#include "nonzero/solve/pagerank.hpp"

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
        vector_space<double, cpu> space({}, blocks * sweep_block);
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
                m.on_cpu(cpu{}, view(A))->apply(1, x, 0, y);
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
    const pagerank_graph<double, cpu> graph(cpu{}, view(A), link_direction::row_links_to_column);
    EXPECT_TRUE(graph.rank().report.converged);
    EXPECT_EQ(team(), alive) << "PageRank";
}

}  // namespace
}  // namespace nz::test
