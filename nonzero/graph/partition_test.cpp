// Partitions: balance that holds, cuts that are never worse than others' of the same graph, whole
// components where these suffice, and searches that claim convergence only where it is so. Over 500
// lines, as every graph of the cases is built here.
#include "nonzero/graph/partition.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numbers>
#include <numeric>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/components.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/graph/orders.hpp"
#include "nonzero/graph/refine.hpp"
#include "nonzero/graph/reorder.hpp"
#include "nonzero/io/io.hpp"

namespace nz::test {
namespace {

using edge_list = std::vector<std::pair<index, index>>;

csr<double, host> matrix_of(index n, const edge_list& edges) {
    host_vector<index> row, col;
    for (const auto& [i, j] : edges) row.push_back(i), col.push_back(j);
    const host_vector<double> val(edges.size(), 1.0);
    return assemble<double>({n, n}, row, col, val);
}
adjacency graph_of(index n, const edge_list& edges) {
    return adjacency_of(view(matrix_of(n, edges)));
}
adjacency path(index n) { return adjacency_of(view(laplace2d<double>(n, 1))); }
adjacency grid(index nx, index ny) { return adjacency_of(view(laplace2d<double>(nx, ny))); }
adjacency star(index n) {
    edge_list edges;
    for (index i = 1; i < n; ++i) edges.emplace_back(0, i);
    return graph_of(n, edges);
}
/// Paths of these lengths, whose nodes lie scattered among each other.
adjacency paths(const std::vector<index>& lengths) {
    const index n = std::accumulate(lengths.begin(), lengths.end(), 0);
    index step = n / 2 + 1;
    while (std::gcd(step, n) != 1) ++step;
    edge_list edges;
    std::int64_t at = 0;
    const auto node = [&](std::int64_t k) { return index(k * step % n); };
    for (const index length : lengths) {
        for (index k = 1; k < length; ++k) edges.emplace_back(node(at + k - 1), node(at + k));
        at += length;
    }
    return graph_of(n, edges);
}
adjacency real_graph(const char* name) {
    return adjacency_of(view(read<double>(NZ_SOURCE_DIR "/matrices/" + std::string(name))));
}

struct named_graph {
    const char* name;
    adjacency graph;
};
const std::vector<named_graph>& small_graphs() {
    static const std::vector<named_graph> graphs = {
        {"path", path(100)},
        {"grid", grid(23, 17)},
        {"star", star(60)},
        {"random", adjacency_of(view(random<double>(300, 300, 3, 5)))},
        {"isolated", graph_of(50, {})},
        {"path and isolated", paths([] {
             std::vector<index> lengths(41, 1);
             lengths[0] = 60;
             return lengths;
         }())},
        {"pieces", paths({40, 40, 31, 17, 5, 5, 2, 1, 1})},
        {"seven", path(7)},
    };
    return graphs;
}

/// Nodes that a part may have, by the promise in partition.hpp.
index allowed(index n, index parts, double imbalance) {
    return std::max((n + parts - 1) / parts, index(std::floor((1 + imbalance) * n / parts)));
}

/// Edges cut, counted from the nodes' side; checks all that the result says of the parts.
offset checked_cut(const adjacency& graph, const partition_options& o, const partition_result& r) {
    EXPECT_EQ(r.part.size(), std::size_t(graph.nodes()));
    EXPECT_EQ(r.sizes.size(), std::size_t(o.parts));
    std::vector<index> sizes(std::size_t(o.parts), 0);
    for (const index p : r.part) ++sizes.at(std::size_t(p));
    EXPECT_TRUE(std::equal(sizes.begin(), sizes.end(), r.sizes.begin()));
    const index heaviest = *std::max_element(sizes.begin(), sizes.end());
    EXPECT_LE(heaviest, allowed(graph.nodes(), o.parts, o.imbalance));
    EXPECT_NEAR(r.imbalance, double(heaviest) * o.parts / graph.nodes() - 1, 1e-12);
    offset cut = 0;
    for (index i = 0; i < graph.nodes(); ++i)
        for (const index j : graph.neighbours(i))
            cut += i < j && r.part[std::size_t(i)] != r.part[std::size_t(j)];
    EXPECT_EQ(cut, r.cut);
    EXPECT_EQ(cut, cut_of(graph, r.part));
    return cut;
}

/// The edges cut by the order in pieces of nearly equal size.
offset cut_of_order(const adjacency& graph, const ordering& order, index parts) {
    host_vector<index> part(order.size());
    for (std::size_t k = 0; k < order.size(); ++k)
        part[std::size_t(order[k])] = index(k * std::size_t(parts) / order.size());
    return cut_of(graph, part);
}

/// The least that natural order, RCM and METIS with its own options cut within the balance.
offset best_of_others(const adjacency& graph, const partition_options& o) {
    ordering natural(static_cast<std::size_t>(graph.nodes()));
    std::iota(natural.begin(), natural.end(), 0);
    offset best = std::min(cut_of_order(graph, natural, o.parts),
                           cut_of_order(graph, reverse_cuthill_mckee(graph), o.parts));
    if (!why_no_metis().empty() || !o.with_metis) return best;
    for (const auto scheme : {metis_scheme::recursive, metis_scheme::kway}) {
        const auto part = metis_parts(graph, o.parts, {.scheme = scheme});
        std::vector<index> sizes(std::size_t(o.parts), 0);
        for (const index p : part) ++sizes.at(std::size_t(p));
        if (*std::max_element(sizes.begin(), sizes.end()) <=
            allowed(graph.nodes(), o.parts, o.imbalance))
            best = std::min(best, cut_of(graph, part));
    }
    return best;
}

/// |L v - lambda v| over lambda, from the definition.
double residual_of(const adjacency& graph, std::span<const double> v, double lambda) {
    double sum = 0;
    for (index i = 0; i < graph.nodes(); ++i) {
        const double own = v[std::size_t(i)];
        double r = double(graph.degree(i)) * own - lambda * own;
        for (const index j : graph.neighbours(i)) r -= v[std::size_t(j)];
        sum += r * r;
    }
    return std::sqrt(sum) / lambda;
}

TEST(fiedler, laplacians_have_rows_that_sum_to_zero) {
    const auto L = laplacian_of(grid(4, 3));
    validate(view(L));
    EXPECT_EQ(L.val.size(), 12U + 2 * 17U);
    for (index i = 0; i < 12; ++i) {
        double sum = 0;
        for_each_entry(view(L), i, i + 1, [&](index, index, double v) { sum += v; });
        EXPECT_EQ(sum, 0) << i;
    }
}

TEST(fiedler, converged_is_what_the_residual_against_lambda_says) {
    // The Laplacian's second eigenvalue is from 1e-5 to 1 times its largest here.
    const named_graph graphs[] = {{"path", path(400)}, {"grid", grid(60, 41)}, {"star", star(50)}};
    for (const auto& [name, graph] : graphs) {
        for (const double tol : {1e-1, 1e-3, 1e-6}) {
            const auto f = fiedler(cpu{}, graph, {.tol = tol});
            EXPECT_TRUE(f.converged) << name << tol << f.why;
            EXPECT_LE(residual_of(graph, f.v, f.connectivity), tol * (1 + 1e-6)) << name;
            EXPECT_NEAR(residual_of(graph, f.v, f.connectivity), f.residual, 1e-9) << name;
            EXPECT_NEAR(std::inner_product(f.v.begin(), f.v.end(), f.v.begin(), 0.0), 1, 1e-12);
            EXPECT_NEAR(std::accumulate(f.v.begin(), f.v.end(), 0.0), 0, 1e-10) << name;
            EXPECT_EQ(f.v, fiedler(cpu{}, graph, {.tol = tol}).v);
        }
    }
    const double s = std::sin(std::numbers::pi / 120);
    EXPECT_NEAR(fiedler(cpu{}, grid(60, 41), {.tol = 1e-4}).connectivity, 4 * s * s, 1e-6);
    EXPECT_NEAR(fiedler(cpu{}, star(50), {.tol = 1e-4}).connectivity, 1, 1e-6);
}

TEST(fiedler, says_that_it_has_not_converged) {
    const auto graph = grid(60, 41);
    const fiedler_options few{
        .tol = 1e-6, .max_products = 4, .preconditioner = fiedler_preconditioner::none};
    const auto f = fiedler(cpu{}, graph, few);
    EXPECT_FALSE(f.converged);
    EXPECT_GT(f.residual, 1e-6);
    EXPECT_NE(f.why, "converged");
    EXPECT_FALSE(fiedler(cpu{}, path(50), {.tol = 0}).converged);
    const auto b = bisect(cpu{}, graph, few);
    EXPECT_FALSE(b.search.converged);
    EXPECT_EQ(b.cut, cut_of(graph, b.part));
    const auto r = partition(cpu{}, graph, {.method = partition_method::spectral, .fiedler = few});
    EXPECT_FALSE(r.search.converged);
    EXPECT_GT(r.search.residual, 1e-6);
    EXPECT_NE(r.search.why, "converged");
}

TEST(fiedler, refuses) {
    EXPECT_THROW((void)fiedler(cpu{}, graph_of(2, {})), argument_error);
    EXPECT_THROW((void)fiedler(cpu{}, graph_of(4, {{0, 1}, {2, 3}})), argument_error);
    for (const index n : {0, 1})
        EXPECT_THROW((void)fiedler(cpu{}, graph_of(n, {})), argument_error);
    EXPECT_THROW((void)fiedler(cpu{}, path(9), {.tol = -1}), argument_error);
    EXPECT_THROW((void)fiedler(cpu{}, path(9), {.tol = std::nan("")}), argument_error);
    EXPECT_THROW((void)fiedler(cpu{}, path(9), {.max_products = -1}), argument_error);
}

/// The path's second eigenvalue is 4 sin^2(pi / (2 n)), and its cut is one edge.
TEST(bisection, cuts_a_path_in_the_middle) {
    for (const index n : {2, 3, 10, 101}) {
        for (const auto kind : {fiedler_preconditioner::none, fiedler_preconditioner::jacobi,
                                fiedler_preconditioner::amg}) {
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

TEST(bisection, cuts_a_grid_across_its_long_side) {
    const auto g = grid(40, 17);
    const auto b = bisect(cpu{}, g);
    EXPECT_TRUE(b.search.converged) << b.search.why;
    EXPECT_EQ(b.cut, 17);
    EXPECT_EQ(b.cut, cut_of(g, b.part));
    EXPECT_EQ(b.part, bisect(cpu{}, g).part);
    EXPECT_THROW((void)cut_of(g, {}), argument_error);
}

TEST(bisection, takes_apart_what_is_in_pieces) {
    const auto two = bisect(cpu{}, paths({5, 5}), {.tol = 1e-10});
    EXPECT_EQ(two.connectivity, 0);
    EXPECT_EQ(two.cut, 0);
    // Largest first 3 and 2 would be beside 3, 2 and 2: 5 and 7.
    EXPECT_EQ(bisect(cpu{}, paths({3, 3, 2, 2, 2})).cut, 0);
    // The path must be cut, and by one edge, as the isolated nodes fill up either half.
    const auto graph = paths({9, 1, 1, 1});
    const auto one = bisect(cpu{}, graph);
    EXPECT_EQ(one.cut, 1);
    EXPECT_EQ(std::accumulate(one.part.begin(), one.part.end(), 0), 6);
    EXPECT_EQ(one.part.size(), one.fiedler.size());
    for (index i = 0; i < graph.nodes(); ++i) {
        EXPECT_TRUE(graph.degree(i) > 0 || one.fiedler[std::size_t(i)] == 0);
    }
}

TEST(bisection, of_nothing_and_of_one_node) {
    for (const index n : {0, 1, 2, 5}) {
        const auto b = bisect(cpu{}, graph_of(n, {}));
        EXPECT_EQ(b.part.size(), std::size_t(n));
        EXPECT_EQ(std::accumulate(b.part.begin(), b.part.end(), 0), n / 2);
        EXPECT_TRUE(b.search.converged);
    }
}

TEST(partition, is_never_worse_than_others_and_keeps_the_balance) {
    using enum partition_method;
    for (const auto& [name, graph] : small_graphs()) {
        for (const index parts : {1, 2, 3, 7}) {
            for (const bool with_metis : {true, false}) {
                for (const auto method : {automatic, spectral}) {
                    for (const double imbalance : {0.0, 0.03, 0.2}) {
                        const partition_options o{.parts = parts,
                                                  .method = method,
                                                  .imbalance = imbalance,
                                                  .with_metis = with_metis};
                        const auto r = partition(cpu{}, graph, o);
                        EXPECT_LE(checked_cut(graph, o, r), best_of_others(graph, o))
                            << name << " in " << parts << " by " << r.winner;
                        EXPECT_TRUE(r.search.converged) << name << r.search.why;
                        const auto again = partition(cpu{}, graph, o);
                        EXPECT_EQ(r.part, again.part);
                        EXPECT_EQ(r.winner, again.winner);
                    }
                }
            }
        }
    }
}

TEST(partition, of_real_matrices) {
    for (const char* name : {"bcsstk17.mtx.gz", "CA-HepPh.mtx.gz"}) {
        const auto graph = real_graph(name);
        for (const index parts : {2, 7, 9}) {
            for (const bool with_metis : {true, false}) {
                const partition_options o{.parts = parts, .with_metis = with_metis};
                const auto r = partition(cpu{}, graph, o);
                EXPECT_LE(checked_cut(graph, o, r), best_of_others(graph, o)) << name << parts;
                EXPECT_TRUE(r.search.converged) << name << r.search.why;
                EXPECT_LT(r.cut, graph.edges() / 10) << name << parts;
            }
        }
    }
}

TEST(partition, cuts_no_edge_where_components_suffice) {
    const auto authors = real_graph("CA-HepPh.mtx.gz");
    for (const index parts : {1, 2, 3, 7}) {
        const partition_options o{.parts = parts};
        const auto r = partition(cpu{}, authors, o);
        EXPECT_EQ(checked_cut(authors, o, r), 0) << parts;
        EXPECT_EQ(r.winner, "components");
        EXPECT_EQ(r.components, 77479);
        EXPECT_EQ(r.isolated, 77203);
        EXPECT_EQ(r.largest, 11204);
        EXPECT_EQ(r.search.searches, 0);
    }
    // In two parts of 6 each only as 3 + 3 and 2 + 2 + 2; in three of 27 only as three times
    // 14 + 7 + 6, or 8 + 8 + 11 and the like; in four, of pieces of one node.
    const struct {
        std::vector<index> lengths;
        index parts;
    } cases[] = {{{3, 3, 2, 2, 2}, 2},
                 {{14, 14, 14, 7, 7, 7, 6, 6, 6}, 3},
                 {{5, 5, 4, 4, 3, 3, 3}, 3},
                 {{1, 1, 1, 1, 1, 1, 1}, 4}};
    for (const auto& [lengths, parts] : cases) {
        const partition_options o{.parts = parts, .imbalance = 0, .with_metis = false};
        const auto graph = paths(lengths);
        const auto r = partition(cpu{}, graph, o);
        EXPECT_EQ(checked_cut(graph, o, r), 0) << lengths.size();
        EXPECT_EQ(r.winner, "components") << lengths.size();
    }
}

/// A path in k parts loses k - 1 edges, whichever method cuts it.
TEST(partition, cuts_a_path_at_as_few_places_as_it_has_parts) {
    for (const index parts : {2, 3, 7}) {
        partition_options o{.parts = parts, .with_metis = false};
        EXPECT_EQ(checked_cut(path(500), o, partition(cpu{}, path(500), o)), parts - 1);
        // Natural order knows nothing of this one.
        const auto scattered = paths({500});
        o.method = partition_method::spectral;
        const auto r = partition(cpu{}, scattered, o);
        EXPECT_EQ(checked_cut(scattered, o, r), parts - 1);
        EXPECT_EQ(r.winner, "spectral");
        EXPECT_EQ(r.search.searches, parts - 1);
    }
}

/// Leaves that are not with the hub are cut off: as few as the balance allows.
TEST(partition, of_a_star_leaves_with_the_hub_what_fits) {
    for (const index parts : {2, 3, 7}) {
        const partition_options o{.parts = parts, .with_metis = false};
        const auto r = partition(cpu{}, star(1000), o);
        EXPECT_EQ(checked_cut(star(1000), o, r), 1000 - allowed(1000, parts, o.imbalance));
    }
}

TEST(partition, of_a_grid_cuts_across) {
    for (const bool with_metis : {true, false}) {
        const partition_options o{.with_metis = with_metis};
        EXPECT_EQ(checked_cut(grid(40, 17), o, partition(cpu{}, grid(40, 17), o)), 17);
    }
}

TEST(partition, cuts_a_component_only_where_balance_demands_it) {
    // 100, 65 and 35 in two: whole. In three of 68: the longest only, and once, as 65 in one part
    // and 135 in the others just fit.
    for (const auto& [parts, cut] : {std::pair<index, offset>{2, 0}, {3, 1}}) {
        const auto graph = paths({100, 65, 35});
        const partition_options o{.parts = parts, .with_metis = false};
        const auto r = partition(cpu{}, graph, o);
        EXPECT_EQ(checked_cut(graph, o, r), cut);
        const auto pieces = components_of(graph);
        for (index i = 0; i < 200; ++i)
            for (const index j : graph.neighbours(i))
                EXPECT_TRUE(pieces.of[std::size_t(i)] == 0 ||
                            r.part[std::size_t(i)] == r.part[std::size_t(j)]);
    }
    // Three equal ones in two halves lose one edge, as does one path among isolated nodes.
    const partition_options two{.with_metis = false};
    EXPECT_EQ(partition(cpu{}, paths({100, 100, 100}), two).cut, 1);
    std::vector<index> lengths(301, 1);
    lengths[0] = 700;
    EXPECT_EQ(partition(cpu{}, paths(lengths), two).cut, 1);
}

TEST(partition, says_how_it_came_about) {
    const auto graph = grid(30, 30);
    const partition_options alone{.method = partition_method::spectral, .with_metis = false};
    const auto r = partition(cpu{}, graph, alone);
    EXPECT_EQ(r.method, partition_method::spectral);
    ASSERT_EQ(r.candidates.size(), 3U);
    EXPECT_EQ(r.candidates[0].name, "spectral");
    EXPECT_EQ(r.candidates[1].name, "rcm");
    EXPECT_EQ(r.candidates[2].name, "natural");
    EXPECT_EQ(r.candidates[2].cut, 30);
    EXPECT_EQ(r.candidates[2].heaviest, 450);
    for (const auto& c : r.candidates) EXPECT_LE(r.cut, c.refined);
    EXPECT_EQ(r.search.searches, 1);
    EXPECT_EQ(r.components, 1);
    EXPECT_EQ(partition(cpu{}, graph, {.with_metis = false}).method, partition_method::spectral);
    const bool has_metis = why_no_metis().empty();
    EXPECT_EQ(partition(cpu{}, graph).method,
              has_metis ? partition_method::metis : partition_method::spectral);
    const partition_options asked{.method = partition_method::metis};
    if (!has_metis)
        EXPECT_THROW((void)partition(cpu{}, graph, asked), unavailable);
    else
        EXPECT_EQ(partition(cpu{}, graph, asked).candidates[0].name, "metis.recursive");
}

TEST(partition, takes_the_pattern_whatever_the_values) {
    auto A = laplace2d<double>(20, 10);
    const auto expected = partition(A, {.parts = 3}).part;
    for (const double v : {0.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
        std::fill(A.val.begin(), A.val.end(), v);
        EXPECT_EQ(partition(A, {.parts = 3}).part, expected) << v;
    }
    // One way or both, with the diagonal or without.
    const edge_list one_way = {{0, 1}, {1, 2}, {2, 2}, {4, 3}},
                    both = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {3, 4}, {4, 3}};
    EXPECT_EQ(partition(matrix_of(5, one_way)).part, partition(matrix_of(5, both)).part);
}

TEST(partition, of_very_few_nodes) {
    EXPECT_TRUE(partition(matrix_of(0, {}), {.parts = 1}).part.empty());
    EXPECT_EQ(partition(matrix_of(1, {}), {.parts = 1}).part, (host_vector<index>{0}));
    EXPECT_EQ(partition(matrix_of(1, {{0, 0}}), {.parts = 1}).sizes, (host_vector<index>{1}));
    for (index n = 2; n <= 9; ++n)
        for (index parts = 1; parts <= n; ++parts)
            for (const auto& graph : {path(n), star(n), graph_of(n, {}), graph_of(n, {{0, 1}})}) {
                const partition_options o{.parts = parts, .method = partition_method::spectral};
                const auto r = partition(cpu{}, graph, o);
                checked_cut(graph, o, r);
                EXPECT_TRUE(parts < n || r.cut == graph.edges());
            }
}

/// METIS prints where it runs out of nodes to halve; the library never does.
TEST(partition, prints_nothing) {
    if (const std::string why = why_no_metis(); !why.empty()) GTEST_SKIP() << why;
    testing::internal::CaptureStdout();
    std::vector<index> lengths(40, 1);
    lengths[0] = 30, lengths[1] = 20, lengths[2] = 20;
    const auto scattered = paths(lengths);
    for (const auto& graph : {scattered, path(64), star(64), grid(8, 8)})
        for (index parts = 1; parts <= graph.nodes(); ++parts)
            for (const double imbalance : {0.0, 0.03, 1.0})
                (void)partition(cpu{}, graph, {.parts = parts, .imbalance = imbalance});
    (void)std::fflush(stdout);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
}

TEST(partition, refuses) {
    const auto A = matrix_of(5, {{0, 1}});
    for (const index parts : {0, -1, 6, std::numeric_limits<index>::max()})
        EXPECT_THROW((void)partition(A, {.parts = parts}), argument_error) << parts;
    EXPECT_THROW((void)partition(matrix_of(0, {}), {.parts = 2}), argument_error);
    EXPECT_THROW((void)partition(matrix_of(1, {}), {.parts = 2}), argument_error);
    for (const double bad : {-0.1, std::nan(""), std::numeric_limits<double>::infinity()})
        EXPECT_THROW((void)partition(A, {.imbalance = bad}), argument_error) << bad;
    EXPECT_THROW((void)partition(A, {.fiedler = {.tol = -1}}), argument_error);
    EXPECT_THROW((void)partition(A, {.fiedler = {.max_products = -1}}), argument_error);
    EXPECT_THROW((void)partition(A, {.method = partition_method::metis, .with_metis = false}),
                 argument_error);
    EXPECT_THROW((void)partition(csr<double, host>{{1, 2}, {0, 1}, {1}, {1.0}}, {.parts = 1}),
                 argument_error);
    EXPECT_THROW((void)partition(csr<double, host>{{2, 2}, {0, 1, 2}, {1, 7}, {1.0, 1.0}}),
                 argument_error);
    EXPECT_THROW((void)partition(cpu{}, adjacency{}), argument_error);
    EXPECT_THROW((void)spectral_parts(cpu{}, path(9), 2, 4), argument_error);
    EXPECT_THROW((void)spectral_parts(cpu{}, path(9), 0, 9), argument_error);
}

/// All assignments of equal sizes are counted.
TEST(partition, knows_what_a_random_cut_cuts) {
    const auto graph = graph_of(5, {{0, 1}, {1, 2}, {3, 4}});
    for (const index parts : {1, 2, 3, 5}) {
        host_vector<index> part;
        for (index i = 0; i < 5; ++i) part.push_back(index(std::int64_t(i) * parts / 5));
        std::sort(part.begin(), part.end());
        double sum = 0, many = 0;
        do {
            sum += double(cut_of(graph, part));
            ++many;
        } while (std::next_permutation(part.begin(), part.end()));
        EXPECT_NEAR(expected_random_cut(graph, parts), sum / many, 1e-12) << parts;
    }
    // Half of the 39 * 17 + 40 * 16 edges, and a little more.
    EXPECT_NEAR(expected_random_cut(grid(40, 17)), 1303 * 340.0 / 679, 1e-9);
    EXPECT_EQ(expected_random_cut(graph_of(0, {})), 0);
    EXPECT_EQ(expected_random_cut(graph_of(1, {})), 0);
    EXPECT_THROW((void)expected_random_cut(graph, 0), argument_error);
}

TEST(refine, never_cuts_more_and_restores_the_balance) {
    const auto graph = grid(20, 20);
    for (const index parts : {2, 3, 7}) {
        host_vector<index> part;
        std::uint64_t state = 3;
        for (index i = 0; i < 400; ++i) {
            state = state * 6364136223846793005U + 1442695040888963407U;
            part.push_back(index((state >> 33) % std::uint64_t(parts)));
        }
        const std::int64_t room = 400 / parts + 9;
        auto heavy = part;
        refine(graph, parts, 400, part);
        EXPECT_LT(cut_of(graph, part), cut_of(graph, heavy));
        const offset before = cut_of(graph, part);
        refine(graph, parts, 400, part);
        EXPECT_LE(cut_of(graph, part), before);
        std::fill(heavy.begin(), heavy.end(), 0);
        refine(graph, parts, room, heavy);
        for (index p = 0; p < parts; ++p)
            EXPECT_LE(std::count(heavy.begin(), heavy.end(), p), room) << p;
    }
    host_vector<index> part(400, 2);
    EXPECT_THROW(refine(graph, 2, 400, part), argument_error);
    EXPECT_THROW(refine(graph, 3, 133, part), argument_error);
    EXPECT_THROW(refine(graph, 0, 400, part), argument_error);
    EXPECT_THROW(refine(graph, 3, 400, std::span(part).first(9)), argument_error);
}

}  // namespace
}  // namespace nz::test
