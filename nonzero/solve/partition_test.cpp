// Spectral bisection: of graphs whose Fiedler vector is known, and of those that are in pieces.
#include "nonzero/solve/partition.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "nonzero/gen/generate.hpp"

namespace nz::test {
namespace {

adjacency path(index n) { return adjacency_of(view(laplace2d<double>(n, 1))); }
adjacency grid(index nx, index ny) { return adjacency_of(view(laplace2d<double>(nx, ny))); }

TEST(partition, laplacians_have_rows_that_sum_to_zero) {
    const auto L = laplacian_of(grid(4, 3));
    validate(view(L));
    EXPECT_EQ(L.val.size(), 12U + 2 * 17U);
    for (index i = 0; i < 12; ++i) {
        double sum = 0;
        for_each_entry(view(L), i, i + 1, [&](index, index, double v) { sum += v; });
        EXPECT_EQ(sum, 0) << i;
    }
}

/// The path's second eigenvalue is 4 sin^2(pi / (2 n)), and its cut is one edge.
TEST(partition, cuts_a_path_in_the_middle) {
    for (const index n : {2, 3, 10, 101}) {
        for (const auto kind : {partition_preconditioner::none, partition_preconditioner::jacobi,
                                partition_preconditioner::amg}) {
            const auto b = bisect(cpu{}, path(n), {.tol = 1e-9, .preconditioner = kind});
            EXPECT_TRUE(b.search.converged) << n << b.search.why;
            EXPECT_EQ(b.cut, 1) << n;
            EXPECT_EQ(b.sizes[0], (n + 1) / 2);
            EXPECT_EQ(std::accumulate(b.part.begin(), b.part.end(), 0), n / 2);
            const double s = std::sin(std::numbers::pi / (2 * n));
            EXPECT_NEAR(b.connectivity, 4 * s * s, 4e-9) << n;
        }
    }
}

TEST(partition, cuts_a_grid_across_its_long_side) {
    const auto g = grid(40, 17);
    const auto b = bisect(cpu{}, g);
    EXPECT_TRUE(b.search.converged) << b.search.why;
    EXPECT_EQ(b.cut, 17);
    EXPECT_EQ(b.cut, cut_of(g, b.part));
    EXPECT_EQ(b.part, bisect(cpu{}, g).part);
    // Half of the 39 * 17 + 40 * 16 edges, and a little more.
    EXPECT_NEAR(expected_random_cut(g), 1303 * 340.0 / 679, 1e-9);
    EXPECT_THROW((void)cut_of(g, {}), argument_error);
}

TEST(partition, takes_apart_what_is_in_pieces) {
    // Two paths of 5, whose nodes take turns.
    host_vector<index> row, col;
    for (index i = 0; i < 8; ++i) row.push_back(i), col.push_back(i + 2);
    const host_vector<double> val(row.size(), 1.0);
    const auto g = adjacency_of(view(assemble<double>({10, 10}, row, col, val)));
    const auto b = bisect(cpu{}, g, {.tol = 1e-10});
    EXPECT_NEAR(b.connectivity, 0, 1e-9);
    EXPECT_EQ(b.cut, 0);
}

TEST(partition, of_nothing_and_of_one_node) {
    for (const index n : {0, 1}) {
        const auto g = adjacency_of(view(assemble<double>({n, n}, {}, {}, {})));
        EXPECT_EQ(bisect(cpu{}, g).part.size(), std::size_t(n));
        EXPECT_EQ(expected_random_cut(g), 0);
    }
}

}  // namespace
}  // namespace nz::test
