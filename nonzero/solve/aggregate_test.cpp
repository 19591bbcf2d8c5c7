// Strong couplings and aggregates: their definitions, checked by brute force.
#include "nonzero/solve/aggregate.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "nonzero/gen/generate.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

std::vector<std::set<index>> neighbour_sets(const strong_graph& g) {
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

TEST(independent_set, is_independent_and_maximal_at_distance_two) {
    for (const auto& A : symmetric_zoo()) {
        const auto g = strong_couplings(cpu{}, view(A), 1, 0);
        const auto near = neighbour_sets(g);
        const auto in = independent_set(cpu{}, g);
        for (std::size_t i = 0; i < near.size(); ++i) {
            int others = 0;  // of the set, within two steps
            std::set<index> reached = near[i];
            for (const index j : near[i])
                reached.insert(near[std::size_t(j)].begin(), near[std::size_t(j)].end());
            for (const index j : reached) others += std::size_t(j) != i && in[std::size_t(j)];
            if (near[i].empty()) {
                EXPECT_FALSE(in[i]);
            } else if (in[i]) {
                EXPECT_EQ(others, 0);
            } else {
                EXPECT_GT(others, 0);
            }
        }
    }
}

TEST(aggregates, cover_all_that_is_connected_and_hang_together) {
    for (const auto& A : symmetric_zoo()) {
        const auto g = strong_couplings(cpu{}, view(A), 1, 0);
        const auto a = aggregate(cpu{}, g);
        std::vector<std::vector<index>> members(std::size_t(a.count));
        for (index i = 0; i < g.nodes(); ++i) {
            const index of = a.of[std::size_t(i)];
            ASSERT_EQ(of == alone, g.neighbours(i).empty());
            if (of != alone) members[std::size_t(of)].push_back(i);
        }
        for (const auto& m : members) {
            ASSERT_GE(m.size(), 2U);
            std::set<index> left(m.begin(), m.end());
            std::vector<index> front{m[0]};
            left.erase(m[0]);
            while (!front.empty()) {
                const index i = front.back();
                front.pop_back();
                for (const index j : g.neighbours(i))
                    if (left.erase(j) > 0) front.push_back(j);
            }
            EXPECT_TRUE(left.empty());
        }
    }
}

TEST(aggregates, are_the_same_for_any_number_of_threads) {
    const auto A = laplace3d<double>(30, 30, 30);
    const auto g = strong_couplings(cpu{.threads = 1}, view(A), 1, 0.08);
    const auto once = aggregate(cpu{.threads = 1}, g);
    EXPECT_LT(once.count * 6, A.shape.rows);
    for (const int threads : {2, 3, 8}) {
        const auto again = aggregate(cpu{.threads = threads},
                                     strong_couplings(cpu{.threads = threads}, view(A), 1, 0.08));
        EXPECT_EQ(once.count, again.count);
        EXPECT_EQ(once.of, again.of);
    }
}

}  // namespace
}  // namespace nz::test
