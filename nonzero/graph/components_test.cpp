// Connected components, held against a search that merges; and graphs of some nodes.
#include "nonzero/graph/components.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "nonzero/gen/generate.hpp"
#include "nonzero/graph/strong_components.hpp"
#include "nonzero/io/io.hpp"

namespace nz::test {
namespace {

adjacency graph_of(index n, const std::vector<std::pair<index, index>>& edges) {
    host_vector<index> row, col;
    for (const auto& [i, j] : edges) row.push_back(i), col.push_back(j);
    const host_vector<double> val(edges.size(), 1.0);
    return adjacency_of(view(assemble<double>({n, n}, row, col, val)));
}

TEST(components, are_numbered_by_size) {
    const auto c = components_of(graph_of(9, {{8, 1}, {2, 3}, {3, 5}, {6, 4}, {7, 7}}));
    EXPECT_EQ(c.of, (host_vector<index>{3, 1, 0, 0, 2, 0, 2, 4, 1}));
    EXPECT_EQ(c.sizes, (host_vector<index>{3, 2, 2, 1, 1}));
    EXPECT_EQ(c.nodes, (host_vector<index>{2, 3, 5, 1, 8, 4, 6, 0, 7}));
    EXPECT_EQ(c.count(), 5);
    EXPECT_EQ(c.isolated(), 2);
    EXPECT_EQ(c.largest(), 3);
}

TEST(components, of_nothing_and_of_one_node) {
    const auto none = components_of(graph_of(0, {}));
    EXPECT_EQ(none.count(), 0);
    EXPECT_EQ(none.largest(), 0);
    EXPECT_EQ(none.isolated(), 0);
    EXPECT_EQ(components_of(graph_of(1, {{0, 0}})).isolated(), 1);
}

/// Nodes that an edge joins have one number, and there are as many numbers as merging leaves.
TEST(components, agree_with_merging) {
    for (const index edges : {1000, 2500, 4000}) {
        std::vector<std::pair<index, index>> list;
        std::uint64_t state = 7;
        const auto any = [&] {
            state = state * 6364136223846793005U + 1442695040888963407U;
            return index((state >> 33) % 5000);
        };
        for (index e = 0; e < edges; ++e) {
            const index i = any();
            list.emplace_back(i, any());
        }
        std::vector<index> root(5000);
        std::iota(root.begin(), root.end(), 0);
        const auto top = [&](index i) {
            while (root[std::size_t(i)] != i) i = root[std::size_t(i)];
            return i;
        };
        index left = 5000;
        for (const auto& [i, j] : list) {
            const index a = top(i), b = top(j);
            left -= a != b;
            root[std::size_t(a)] = b;
        }
        const auto c = components_of(graph_of(5000, list));
        EXPECT_EQ(c.count(), left);
        for (const auto& [i, j] : list) EXPECT_EQ(c.of[std::size_t(i)], c.of[std::size_t(j)]);
        for (index k = 0; k < c.count(); ++k)
            EXPECT_EQ(std::count(c.of.begin(), c.of.end(), k), c.sizes[std::size_t(k)]);
        EXPECT_TRUE(std::is_sorted(c.sizes.rbegin(), c.sizes.rend()));
    }
}

/// A search that recurs would need a frame for each of a million nodes.
TEST(components, of_a_long_path) {
    EXPECT_EQ(components_of(adjacency_of(view(laplace2d<float>(1'000'000, 1)))).count(), 1);
}

TEST(components, of_real_graphs) {
    const auto graph = [](const char* name) {
        return adjacency_of(view(read<double>(NZ_SOURCE_DIR "/matrices/" + std::string(name))));
    };
    const auto vessel = components_of(graph("bcsstk17.mtx.gz"));
    EXPECT_EQ(vessel.count(), 519);
    EXPECT_EQ(vessel.isolated(), 518);
    EXPECT_EQ(vessel.largest(), 10456);
    const auto authors = components_of(graph("CA-HepPh.mtx.gz"));
    EXPECT_EQ(authors.count(), 77479);
    EXPECT_EQ(authors.isolated(), 77203);
    EXPECT_EQ(authors.largest(), 11204);
    EXPECT_EQ(authors.sizes[1], 13);
}

TEST(components, refuse_what_is_no_graph) {
    EXPECT_THROW((void)components_of({}), argument_error);
    EXPECT_THROW((void)components_of({{1, 1}, {}}), argument_error);
    EXPECT_THROW((void)components_of({{0, 1, 1}, {1}}), argument_error);           // one way
    EXPECT_THROW((void)components_of({{0, 1, 2}, {0, 1}}), argument_error);        // loops
    EXPECT_THROW((void)components_of({{0, 1, 2}, {5, 0}}), argument_error);        // beyond
    EXPECT_THROW((void)components_of({{0, 1, 2}, {-1, 0}}), argument_error);       // before
    EXPECT_THROW((void)components_of({{0, 2, 4}, {1, 1, 0, 0}}), argument_error);  // twice
    EXPECT_THROW((void)components_of({{0, 3, 2}, {1, 0}}), argument_error);        // descends
    EXPECT_EQ(components_of({{0, 1, 2}, {1, 0}}).count(), 1);
}

TEST(subgraph, has_the_edges_between_its_nodes) {
    const auto g = graph_of(6, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {5, 0}, {1, 4}});
    const auto part = subgraph(g, host_vector<index>{1, 2, 4, 5});
    EXPECT_EQ(part.first, (host_vector<offset>{0, 2, 3, 5, 6}));
    EXPECT_EQ(part.targets, (host_vector<index>{1, 2, 0, 0, 3, 2}));
    EXPECT_EQ(subgraph(g, {}).nodes(), 0);
    for (const auto& nodes : {host_vector<index>{2, 1}, {1, 1}, {-1}, {6}})
        EXPECT_THROW((void)subgraph(g, nodes), argument_error);
}

host_vector<index> strong_of(index n, const std::vector<std::pair<index, index>>& links) {
    host_vector<index> row, col;
    for (const auto& [i, j] : links) row.push_back(i), col.push_back(j);
    const host_vector<double> val(links.size(), 1.0);
    return strong_components_of(view(assemble<double>({n, n}, row, col, val)));
}

TEST(strong_components, are_numbered_so_that_links_lead_to_lower_numbers) {
    using sets = host_vector<index>;
    EXPECT_EQ(strong_of(0, {}), sets{});
    EXPECT_EQ(strong_of(2, {{0, 0}}), (sets{0, 1}));
    EXPECT_EQ(strong_of(3, {{0, 1}, {1, 2}}), (sets{2, 1, 0}));
    EXPECT_EQ(strong_of(5, {{0, 1}, {1, 2}, {2, 0}, {2, 3}, {3, 4}, {4, 3}}),
              (sets{1, 1, 1, 0, 0}));
    EXPECT_THROW(strong_components_of(view(assemble<double>({2, 3}, {}, {}, {}))), argument_error);
}

/// Two nodes have one number where each reaches the other, by a search from every node.
TEST(strong_components, agree_with_reachability) {
    std::uint64_t state = 3;
    const auto any = [&](index n) {
        state = state * 6364136223846793005U + 1442695040888963407U;
        return index((state >> 33) % std::uint64_t(n));
    };
    for (const index n : {1, 7, 30, 60})
        for (const int links : {n / 2, n, 2 * n, 4 * n}) {
            std::vector<std::pair<index, index>> list;
            for (int k = 0; k < links; ++k) list.emplace_back(any(n), any(n));
            const std::vector<bool> none(std::size_t(n), false);
            std::vector<std::vector<bool>> reaches(none.size(), none);
            for (index i = 0; i < n; ++i) reaches[std::size_t(i)][std::size_t(i)] = true;
            for (const auto& [i, j] : list) reaches[std::size_t(i)][std::size_t(j)] = true;
            for (std::size_t k = 0; k < std::size_t(n); ++k)
                for (std::size_t i = 0; i < std::size_t(n); ++i)
                    for (std::size_t j = 0; j < std::size_t(n); ++j)
                        if (reaches[i][k] && reaches[k][j]) reaches[i][j] = true;
            const auto of = strong_of(n, list);
            for (std::size_t i = 0; i < std::size_t(n); ++i)
                for (std::size_t j = 0; j < std::size_t(n); ++j) {
                    EXPECT_EQ(of[i] == of[j], reaches[i][j] && reaches[j][i]);
                    EXPECT_TRUE(!reaches[i][j] || of[i] >= of[j]);
                }
        }
}

TEST(strong_components, of_a_path_of_a_million_nodes) {
    std::vector<std::pair<index, index>> list;
    const index n = 1000000;
    for (index i = 0; i + 1 < n; ++i) list.emplace_back(i, i + 1);
    EXPECT_EQ(strong_of(n, list).front(), n - 1);
    list.emplace_back(n - 1, 0);
    EXPECT_EQ(strong_of(n, list), host_vector<index>(std::size_t(n), 0));
}

}  // namespace
}  // namespace nz::test
