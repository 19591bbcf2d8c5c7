// Orders: that they are permutations, that they keep the entries, and what they bring together.
#include "nonzero/graph/reorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// 0 to n - 1 in an order without any order, the same in every run.
ordering shuffle(index n) {
    ordering order(static_cast<std::size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    std::uint64_t state = 1;
    for (std::size_t i = order.size(); i > 1; --i) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        std::swap(order[i - 1], order[std::size_t(state >> 33) % i]);
    }
    return order;
}

template <class V>
csr<V, host> shuffled(const csr<V, host>& A) {
    return reordered(view(A), shuffle(A.shape.rows));
}

csr<double, host> graph_of(index n, const std::vector<std::pair<index, index>>& entries) {
    host_vector<index> row, col;
    for (const auto& [i, j] : entries) row.push_back(i), col.push_back(j);
    const host_vector<double> val(entries.size(), 1.0);
    return assemble<double>({n, n}, row, col, val);
}

TEST(adjacency, is_both_ways_without_loops_and_twins) {
    const auto g = adjacency_of(view(graph_of(4, {{0, 0}, {0, 2}, {1, 0}, {2, 0}, {2, 2}})));
    EXPECT_EQ(g.nodes(), 4);
    EXPECT_EQ(g.edges(), 2);
    EXPECT_EQ(g.first, (host_vector<offset>{0, 2, 3, 4, 4}));
    EXPECT_EQ(g.targets, (host_vector<index>{1, 2, 0, 0}));
    EXPECT_THROW(adjacency_of(view(csr<double, host>{{1, 2}, {0, 0}, {}, {}})), argument_error);
}

TEST(reorder, keeps_every_entry) {
    const auto A = random<double>(50, 50, 6, 4);
    const ordering order = shuffle(50);
    const auto B = reordered(view(A), order);
    validate(view(B));
    std::map<std::pair<index, index>, double> entries;
    for_each_entry(view(A), 0, 50, [&](index i, index j, double v) { entries[{i, j}] = v; });
    ASSERT_EQ(B.val.size(), A.val.size());
    for_each_entry(view(B), 0, 50, [&](index k, index l, double v) {
        EXPECT_EQ(v, entries.at({order[std::size_t(k)], order[std::size_t(l)]}));
    });
    const auto v = random_vector<double>(50, 3);
    EXPECT_EQ(restored<double>(reordered<double>(v, order), order), v);
    EXPECT_EQ(reordered<double>(v, order)[7], v[std::size_t(order[7])]);
}

TEST(reorder, refuses_what_is_no_permutation) {
    const auto A = laplace2d<double>(2, 2);
    for (const ordering& order : {ordering{0, 1, 2}, {0, 1, 2, 2}, {0, 1, 2, 4}, {-1, 1, 2, 3}})
        EXPECT_THROW(reordered(view(A), order), argument_error);
    const csr<double, host> wide{{1, 2}, {0, 1}, {1}, {1.0}};
    EXPECT_THROW(reordered(view(wide), {0}), argument_error);
    EXPECT_THROW(measure_nearness(view(wide), 1), argument_error);
    EXPECT_THROW(measure_nearness(view(A), 0), argument_error);
}

TEST(reorder, knows_how_near_to_the_diagonal_entries_are) {
    // | 1 . . 1 |
    // | . 1 . . |
    // | 1 . 1 1 |
    // | . . . . |
    const auto A = graph_of(4, {{0, 0}, {0, 3}, {1, 1}, {2, 0}, {2, 2}, {2, 3}});
    const nearness two = measure_nearness(view(A), 2);
    EXPECT_EQ(two.bandwidth, 3);
    EXPECT_EQ(two.profile, 2);
    EXPECT_EQ(two.in_blocks, 4 / 6.0);
    EXPECT_EQ(measure_nearness(view(A), 1).in_blocks, 1);
    EXPECT_EQ(measure_nearness(view(A), 9).in_blocks, 3 / 6.0);
    EXPECT_EQ(measure_nearness(view(graph_of(0, {})), 3).in_blocks, 1);
}

TEST(reverse_cuthill_mckee, numbers_a_path_from_end_to_end) {
    const auto A = graph_of(5, {{3, 0}, {0, 4}, {4, 1}, {1, 2}});  // 3 0 4 1 2
    const auto order = reverse_cuthill_mckee(adjacency_of(view(A)));
    EXPECT_TRUE(order == (ordering{3, 0, 4, 1, 2}) || order == (ordering{2, 1, 4, 0, 3}));
}

TEST(reverse_cuthill_mckee, brings_a_grids_bandwidth_to_its_width) {
    for (const auto& [nx, ny] : {std::pair<index, index>{60, 25}, {25, 60}, {30, 30}}) {
        const auto A = shuffled(laplace2d<float>(nx, ny));
        const auto order = reverse_cuthill_mckee(adjacency_of(view(A)));
        check_order(order, A.shape.rows);
        const auto before = measure_nearness(view(A), 10);
        const auto after = measure_nearness(view(reordered(view(A), order)), 10);
        EXPECT_GT(before.bandwidth, 500);
        // Levels from a corner are diagonals of the grid, each within two neighbouring ones.
        EXPECT_LE(after.bandwidth, std::min(nx, ny) + 2);
        EXPECT_LT(after.profile, before.profile / 10);
        EXPECT_LT(1 - after.in_blocks, (1 - before.in_blocks) / 3);
    }
}

TEST(reverse_cuthill_mckee, takes_every_component) {
    const auto A = graph_of(9, {{0, 8}, {8, 4}, {1, 7}, {2, 2}, {5, 6}, {6, 5}});
    const auto order = reverse_cuthill_mckee(adjacency_of(view(A)));
    check_order(order, 9);
    EXPECT_EQ(measure_nearness(view(reordered(view(A), order)), 1).bandwidth, 1);
    EXPECT_TRUE(reverse_cuthill_mckee(adjacency_of(view(graph_of(0, {})))).empty());
    EXPECT_EQ(reverse_cuthill_mckee(adjacency_of(view(graph_of(2, {})))), (ordering{0, 1}));
}

TEST(metis, gathers_a_shuffled_grid_in_blocks) {
    if (const std::string why = why_no_metis(); !why.empty()) GTEST_SKIP() << why;
    const auto A = shuffled(laplace2d<double>(64, 64));
    const auto graph = adjacency_of(view(A));
    for (const index parts : {4, 16}) {
        const auto order = metis_order(graph, parts);
        check_order(order, A.shape.rows);
        EXPECT_EQ(order, metis_order(graph, parts));
        const auto after = measure_nearness(view(reordered(view(A), order)), parts);
        // Cut in squares, 2 * 64 * (sqrt(parts) - 1) of 8064 edges would run between them.
        EXPECT_GT(after.in_blocks, 0.85) << parts;
        // A shuffle leaves one in `parts` within the blocks, and the diagonal.
        EXPECT_LT(measure_nearness(view(A), parts).in_blocks, 0.22 + 0.8 / parts) << parts;
    }
}

TEST(metis, takes_what_has_nothing_to_cut) {
    if (const std::string why = why_no_metis(); !why.empty()) GTEST_SKIP() << why;
    EXPECT_TRUE(metis_parts(adjacency_of(view(graph_of(0, {}))), 4).empty());
    EXPECT_EQ(metis_parts(adjacency_of(view(graph_of(4, {}))), 2),
              (host_vector<index>{0, 0, 1, 1}));
    EXPECT_EQ(metis_parts(adjacency_of(view(graph_of(3, {{0, 1}}))), 1),
              (host_vector<index>{0, 0, 0}));
    check_order(metis_order(adjacency_of(view(graph_of(3, {{0, 1}, {1, 2}}))), 20), 3);
    EXPECT_THROW(metis_parts(adjacency_of(view(graph_of(3, {}))), 0), argument_error);
}

TEST(metis, gives_parts_their_shares) {
    if (const std::string why = why_no_metis(); !why.empty()) GTEST_SKIP() << why;
    const metis_options o{.shares = {0.7, 0.2, 0.1}};
    for (const auto& A : {laplace2d<double>(50, 20), graph_of(1000, {})}) {
        const auto part = metis_parts(adjacency_of(view(A)), 3, o);
        for (index p = 0; p < 3; ++p)
            EXPECT_NEAR(double(std::count(part.begin(), part.end(), p)),
                        1000 * o.shares[std::size_t(p)], 3);
    }
    const auto graph = adjacency_of(view(laplace2d<double>(2, 1)));
    EXPECT_THROW(metis_parts(graph, 3, o), argument_error);
    for (const std::vector<double>& shares :
         {std::vector<double>{1.0}, {0.5, 0.6}, {1.5, -0.5}, {std::nan(""), 1.0}})
        EXPECT_THROW(metis_parts(graph, 2, {.shares = shares}), argument_error);
    EXPECT_THROW(metis_parts(graph, 2, {.imbalance = std::nan("")}), argument_error);
}

}  // namespace
}  // namespace nz::test
