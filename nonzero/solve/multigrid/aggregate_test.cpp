// Strong couplings and aggregates: their definitions, checked by brute force.
#include "nonzero/solve/multigrid/aggregate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

std::vector<std::set<index>> neighbour_sets(const strong_graph<host>& g) {
    std::vector<std::set<index>> s;
    for (index i = 0; i < g.nodes(); ++i) {
        const auto n = g.neighbours(i);
        EXPECT_TRUE(std::is_sorted(n.begin(), n.end()));
        s.emplace_back(n.begin(), n.end());
    }
    return s;
}

/// Symmetric matrices of several kinds, empty and unconnected ones among them.
std::vector<csr<double, host>> symmetric_zoo() {
    std::vector<csr<double, host>> all;
    all.push_back(laplace3d<double>(9, 8, 7));
    all.push_back(laplace27<double>(6, 6, 6));
    all.push_back(circuit<double>(800, 4, 3, 1));
    for (const auto& [name, bug, A] : zoo<double>())
        if (A.shape.rows == A.shape.cols && A.shape.rows < 500) {
            const auto T = transpose(view(A));
            std::vector<index> row, col;
            std::vector<double> val;
            for (const auto* M : {&A, &T})
                for_each_entry(view(*M), 0, M->shape.rows, [&](index i, index j, double v) {
                    row.push_back(i), col.push_back(j), val.push_back(v);
                });
            all.push_back(assemble<double>(A.shape, row, col, val));
        }
    return all;
}

TEST(strength, is_what_the_definition_says) {
    for (const auto& A : symmetric_zoo())
        for (const double eps : {0.0, 0.08, 0.5}) {
            std::vector<double> d(std::size_t(A.shape.rows), 0);
            std::vector<std::set<index>> want(d.size());
            for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double v) {
                if (i == j) d[std::size_t(i)] = v;
            });
            for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double v) {
                const double limit = (eps * eps) * std::abs(d[std::size_t(i)]);
                if (i != j && v != 0 && v * v > limit * std::abs(d[std::size_t(j)]))
                    want[std::size_t(i)].insert(j);
            });
            EXPECT_EQ(neighbour_sets(strong_couplings(cpu{}, view(A), 1, eps)), want);
        }
}

TEST(strength, of_blocks_is_that_of_their_norms) {
    const auto A = elasticity3d<double>(4, 3, 3, 0.3);
    const index nodes = A.shape.rows / 3;
    std::vector<double> norm2(std::size_t(nodes) * std::size_t(nodes), 0);
    const auto at = [&](index i, index j) -> double& {
        return norm2[std::size_t(i) * std::size_t(nodes) + std::size_t(j)];
    };
    for_each_entry(view(A), 0, A.shape.rows,
                   [&](index i, index j, double v) { at(i / 3, j / 3) += v * v; });
    const double eps = 0.1;
    std::vector<std::set<index>> want{std::size_t(nodes)};
    for (index i = 0; i < nodes; ++i)
        for (index j = 0; j < nodes; ++j)
            if (i != j && std::sqrt(at(i, j)) > eps * std::sqrt(std::sqrt(at(i, i) * at(j, j))))
                want[std::size_t(i)].insert(j);
    EXPECT_EQ(neighbour_sets(strong_couplings(cpu{}, view(A), 3, eps)), want);
}

TEST(strength, of_broken_blocks_is_refused) {
    const auto A = laplace2d<double>(5, 5);
    EXPECT_THROW(strong_couplings(cpu{}, view(A), 2, 0.1), argument_error);
    EXPECT_THROW(strong_couplings(cpu{}, view(A), 0, 0.1), argument_error);
    EXPECT_THROW(strong_couplings(cpu{}, view(A), 1, -0.1), argument_error);
}

/// The nodes within `steps` steps of node i, itself left out.
std::set<index> within(const std::vector<std::set<index>>& near, index i, int steps) {
    std::set<index> reached{i};
    for (int step = 0; step < steps; ++step)
        for (const index j : std::set<index>(reached))
            reached.insert(near[std::size_t(j)].begin(), near[std::size_t(j)].end());
    reached.erase(i);
    return reached;
}

TEST(independent_set, is_independent_and_maximal_at_its_distance) {
    for (const auto& A : symmetric_zoo())
        for (const int distance : {1, 2}) {
            const auto g = strong_couplings(cpu{}, view(A), 1, 0);
            const auto near = neighbour_sets(g);
            const auto in = independent_set(cpu{}, g, distance);
            for (index i = 0; i < g.nodes(); ++i) {
                int others = 0;
                for (const index j : within(near, i, distance + 1)) others += in[std::size_t(j)];
                if (near[std::size_t(i)].empty()) {
                    EXPECT_FALSE(in[std::size_t(i)]);
                } else if (in[std::size_t(i)]) {
                    EXPECT_EQ(others, 0);
                } else {
                    EXPECT_GT(others, 0);
                }
            }
        }
}

/// Whether there is a path from any of the nodes to any other that stays among them.
bool hang_together(const strong_graph<host>& g, const std::vector<index>& nodes) {
    std::set<index> left(nodes.begin(), nodes.end());
    std::vector<index> front{nodes[0]};
    left.erase(nodes[0]);
    while (!front.empty()) {
        const index i = front.back();
        front.pop_back();
        for (const index j : g.neighbours(i))
            if (left.erase(j) > 0) front.push_back(j);
    }
    return left.empty();
}

TEST(aggregates, cover_all_that_is_connected_and_hang_together) {
    for (const auto& A : symmetric_zoo())
        for (const int distance : {1, 2}) {
            const auto g = strong_couplings(cpu{}, view(A), 1, 0);
            const auto a = aggregate(cpu{}, g, distance);
            std::vector<std::vector<index>> members(std::size_t(a.count));
            for (index i = 0; i < g.nodes(); ++i) {
                const index of = a.of[std::size_t(i)];
                ASSERT_EQ(of == isolated, g.neighbours(i).empty());
                if (of != isolated) members[std::size_t(of)].push_back(i);
            }
            for (const auto& m : members) {
                ASSERT_GE(m.size(), 2U);
                EXPECT_TRUE(hang_together(g, m));
            }
        }
}

TEST(aggregates, over_two_steps_have_a_root_with_its_neighbours_and_all_within_three_steps) {
    const auto A = laplace3d<double>(12, 11, 10);
    const auto g = strong_couplings(cpu{}, view(A), 1, 0.08);
    const auto near = neighbour_sets(g);
    const auto in = independent_set(cpu{}, g, 2);
    const auto a = aggregate(cpu{}, g, 2);
    index roots = 0;
    std::vector<int> reached(a.of.size(), 0);
    for (index i = 0; i < g.nodes(); ++i) {
        if (!in[std::size_t(i)]) continue;
        EXPECT_EQ(a.of[std::size_t(i)], roots++);
        for (const index j : g.neighbours(i)) EXPECT_EQ(a.of[std::size_t(j)], a.of[std::size_t(i)]);
        for (const index j : within(near, i, 3))
            reached[std::size_t(j)] |= a.of[std::size_t(j)] == a.of[std::size_t(i)];
    }
    EXPECT_EQ(roots, a.count);
    for (index i = 0; i < g.nodes(); ++i)
        EXPECT_TRUE(in[std::size_t(i)] || reached[std::size_t(i)]);
}

TEST(aggregates, are_the_same_for_any_number_of_threads) {
    const auto A = laplace3d<double>(30, 30, 30);
    const auto g = strong_couplings(cpu{.threads = 1}, view(A), 1, 0.08);
    for (const int distance : {1, 2}) {
        const auto once = aggregate(cpu{.threads = 1}, g, distance);
        EXPECT_LT(once.count * (distance == 1 ? 6 : 18), A.shape.rows);
        for (const int threads : {2, 3, 8}) {
            const cpu on{.threads = threads};
            const auto again = aggregate(on, strong_couplings(on, view(A), 1, 0.08), distance);
            EXPECT_EQ(once.count, again.count);
            EXPECT_EQ(once.of, again.of);
        }
    }
}

/// FNV-1a over the aggregates.
std::uint64_t hash_of(const aggregation<host>& a) {
    std::uint64_t h = 0xcbf29ce484222325U;
    for (const index i : a.of) h = (h ^ std::uint32_t(i)) * 0x100000001b3U;
    return h;
}

/// Rounding may leave a coupling at the limit of strength strong in one direction only.
TEST(aggregates, end_where_couplings_lead_one_way) {
    const csr<double, host> circle{
        {3, 3}, {0, 2, 4, 6}, {0, 1, 1, 2, 0, 2}, {1, 0.5, 1, 0.5, 0.5, 1}};
    const auto many = random<double>(400, 400, 5, 1);
    for (const auto& A : {circle, many})
        for (const int distance : {1, 2}) {
            const auto g = strong_couplings(cpu{}, view(A), 1, 0);
            const auto a = aggregate(cpu{}, g, distance);
            EXPECT_GT(a.count, 0);
            for (const index of : a.of) EXPECT_LT(of, a.count);
        }
}

TEST(aggregates, are_the_same_on_every_machine) {
    const auto A = laplace3d<double>(30, 29, 28);
    const auto g = strong_couplings(cpu{}, view(A), 1, 0.08);
    EXPECT_EQ(hash_of(aggregate(cpu{}, g)), 0x28c6319aff25ede6U);
    EXPECT_EQ(hash_of(aggregate(cpu{}, g, 2)), 0xc924bdf7898e5eb7U);
}

TEST(aggregates, over_two_steps_suit_stencils_of_seven_points_in_space) {
    const auto distance = [](const csr<double, host>& A, index block, double eps) {
        return suitable_distance(cpu{}, strong_couplings(cpu{}, view(A), block, eps));
    };
    EXPECT_EQ(distance(laplace3d<double>(20, 20, 20), 1, 0.08), 2);
    EXPECT_EQ(distance(laplace3d<double>(64, 64, 64), 1, 0.08), 2);
    EXPECT_EQ(distance(laplace2d<double>(100, 100), 1, 0.08), 1);
    EXPECT_EQ(distance(from_rule<double>(900, 900,
                                         [](index i, index j, double) {  // 9 points, 30 x 30
                                             return std::abs(i % 30 - j % 30) <= 1 &&
                                                    std::abs(i / 30 - j / 30) <= 1;
                                         }),
                       1, 0),
              1);
    EXPECT_EQ(distance(laplace27<double>(20, 20, 20), 1, 0), 1);
    EXPECT_EQ(distance(elasticity3d<double>(8, 8, 8, 0.3), 3, 0), 1);
    EXPECT_EQ(
        distance(from_rule<double>(40, 40, [](index i, index j, double) { return i == j; }), 1, 0),
        1);
    EXPECT_EQ(distance(csr<double, host>{{0, 0}, {0}, {}, {}}, 1, 0), 1);
}

}  // namespace
}  // namespace nz::test
