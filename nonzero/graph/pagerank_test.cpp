// PageRank against its definition, iterated in long double on a dense matrix.
#include "nonzero/graph/pagerank.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

constexpr auto column_links_to_row = pagerank_options::links::column_links_to_row;
constexpr auto row_links_to_column = pagerank_options::links::row_links_to_column;

using real_everywhere = ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                                         on_backend<float, gpu>, on_backend<double, gpu>>;

template <class V>
csr<V, host> graph_of(index n, const std::vector<std::pair<index, index>>& links) {
    host_vector<index> from, to;
    for (const auto& [i, j] : links) from.push_back(i), to.push_back(j);
    const host_vector<V> val(links.size(), V(7));  // which PageRank does not look at
    return assemble<V>({n, n}, from, to, val);
}

/// Graphs whose rows link to columns.
template <class V>
std::vector<std::pair<std::string, csr<V, host>>> graphs() {
    std::vector<std::pair<std::string, csr<V, host>>> all;
    all.emplace_back("one node", graph_of<V>(1, {}));
    all.emplace_back("a loop", graph_of<V>(1, {{0, 0}}));
    all.emplace_back("no links", graph_of<V>(5, {}));
    all.emplace_back("a ring", graph_of<V>(4, {{0, 1}, {1, 2}, {2, 3}, {3, 0}}));
    all.emplace_back("a dangling star", graph_of<V>(4, {{0, 3}, {1, 3}, {2, 3}}));
    all.emplace_back("an isolated node", graph_of<V>(5, {{0, 1}, {1, 0}, {1, 2}, {2, 2}, {3, 1}}));
    all.emplace_back("rmat", rmat<V>(8, 4, 0.57, 0.19, 0.19, 3));
    return all;
}

/// 200 iterations of r = d P^T r + (1 - d) t, where P's rows are t for nodes without links: the
/// ranks are known to 0.85^200 = 8e-15 then.
template <class V>
std::vector<long double> by_definition(const csr<V, host>& G, long double d,
                                       std::vector<long double> t) {
    const auto n = std::size_t(G.shape.rows);
    if (t.empty()) t.assign(n, 1.0L / (long double)(n));
    std::vector<long double> r = t;
    for (int k = 0; k < 200; ++k) {
        std::vector<long double> next(n);
        for (std::size_t i = 0; i < n; ++i) {
            const auto first = std::size_t(G.row_ptr[i]), last = std::size_t(G.row_ptr[i + 1]);
            for (std::size_t e = first; e < last; ++e)
                next[std::size_t(G.col_ind[e])] += d * r[i] / (long double)(last - first);
            for (std::size_t j = 0; j < n; ++j)
                next[j] += (first == last ? d * r[i] : 0) * t[j] + (1 - d) * r[i] * t[j];
        }
        r = next;
    }
    return r;
}

template <class V>
long double distance(const host_vector<V>& r, const std::vector<long double>& expected) {
    long double sum = 0;
    for (std::size_t i = 0; i < expected.size(); ++i)
        sum += std::abs((long double)(r[i]) - expected[i]);
    return sum;
}

/// The error of the ranks of one iteration, relative: a sum of at most `in` links, and six
/// operations; each iteration shrinks what the ones before did by d.
template <class V>
long double rounding(const csr<V, host>& G, long double d) {
    const auto T = transpose(view(G));
    std::int64_t in = 0;
    for (index i = 0; i < T.shape.rows; ++i)
        in = std::max(in, T.row_ptr[std::size_t(i) + 1] - T.row_ptr[std::size_t(i)]);
    return (long double)(in + 6) * std::numeric_limits<V>::epsilon() / (1 - d);
}

template <class T>
class page_rank : public solver_test<T> {
  protected:
    using value = typename T::V;
    using backend = typename T::B;

    pagerank_options::result<value> rank(
        const csr<value, host>& G, const pagerank_options& o = {}, std::span<const value> t = {},
        pagerank_options::links direction = row_links_to_column) const {
        return pagerank(this->on_, view(G), direction, o, t);
    }
    static constexpr double tol = std::is_same_v<value, float> ? 1e-6 : 1e-13;
};
TYPED_TEST_SUITE(page_rank, real_everywhere);

TYPED_TEST(page_rank, is_what_the_definition_says_and_sums_to_1) {
    using V = typename TypeParam::V;
    for (const auto& [name, G] : graphs<V>()) {
        const auto [r, report] = this->rank(G, {.tol = this->tol});
        EXPECT_TRUE(report.converged) << name << report.change;
        EXPECT_EQ(report.history.size(), std::size_t(report.iterations));
        const long double allowed =
            report.error_bound(0.85) + rounding(G, 0.85L) + std::pow(0.85L, 200);
        EXPECT_LE(distance(r, by_definition(G, 0.85L, {})), allowed) << name;
        long double sum = 0;
        for (const V v : r) sum += v;
        EXPECT_NEAR(double(sum), 1, double(rounding(G, 0.85L))) << name;
    }
}

TYPED_TEST(page_rank, tells_its_monitor_every_change_and_ends_where_that_wants_to) {
    using V = typename TypeParam::V;
    for (const auto& [name, G] : graphs<V>()) {
        std::vector<double> told;
        pagerank_options o{.tol = this->tol};
        o.monitor = [&](std::int64_t iteration, double change) {
            EXPECT_EQ(iteration, std::int64_t(told.size()) + 1);
            told.push_back(change);
            return true;
        };
        const auto watched = this->rank(G, o);
        EXPECT_EQ(told, watched.report.history) << name;
        EXPECT_EQ(watched.rank, this->rank(G, {.tol = this->tol}).rank) << name;
        o.monitor = [](std::int64_t, double) { return false; };
        o.tol = 0;
        const auto stopped = this->rank(G, o);
        EXPECT_LE(stopped.report.iterations, 64) << name;
    }
}

TYPED_TEST(page_rank, teleports_where_it_is_told_to) {
    using V = typename TypeParam::V;
    for (const auto& [name, G] : graphs<V>()) {
        const auto n = std::size_t(G.shape.rows);
        host_vector<V> t(n, V(0));
        for (std::size_t i = 0; i < n; i += 2) t[i] = V(i + 3);
        std::vector<long double> exact(t.begin(), t.end());
        long double sum = 0;
        for (const long double v : exact) sum += v;
        for (long double& v : exact) v /= sum;
        const auto [r, report] = this->rank(G, {.damping = 0.7, .tol = this->tol}, t);
        EXPECT_TRUE(report.converged) << name;
        EXPECT_LE(distance(r, by_definition(G, 0.7L, exact)),
                  report.error_bound(0.7) + rounding(G, 0.7L))
            << name;
    }
    // Who starts at node 0 of 0 -> 1 never sees node 2.
    const host_vector<V> t{V(1), V(0), V(0)};
    const auto r = this->rank(graph_of<V>(3, {{0, 1}}), {.tol = this->tol}, t).rank;
    EXPECT_EQ(r[2], V(0));
    EXPECT_NEAR(double(r[0]), 1 / 1.85, 10 * this->tol);
}

TYPED_TEST(page_rank, directions_are_each_others_transpose) {
    using V = typename TypeParam::V;
    const auto G = rmat<V>(9, 6, 0.57, 0.19, 0.19, 5);
    const auto T = transpose(view(G));
    EXPECT_EQ(this->rank(G, {}, {}, row_links_to_column).rank,
              this->rank(T, {}, {}, column_links_to_row).rank);
    EXPECT_NE(this->rank(G, {}, {}, row_links_to_column).rank,
              this->rank(G, {}, {}, column_links_to_row).rank);
}

TYPED_TEST(page_rank, has_the_same_bits_in_every_run_with_a_graph_and_without) {
    using V = typename TypeParam::V;
    const auto G = rmat<V>(14, 8, 0.57, 0.19, 0.19, 2);
    const auto first = this->rank(G);
    const auto again = this->rank(G);
    const auto plain = this->rank(G, {.graph = false});
    EXPECT_EQ(first.rank, again.rank);
    EXPECT_EQ(first.report.history, again.report.history);
    EXPECT_EQ(first.rank, plain.rank);
    EXPECT_FALSE(plain.report.in_graph);
}

/// A graph whose rows of the product are so long that several blocks of a GPU share each. Their
/// 20,000 roundings keep the ranks from settling as far as those of the small graphs.
TYPED_TEST(page_rank, of_hubs_that_everyone_links_to_is_known) {
    using V = typename TypeParam::V;
    constexpr index n = 20000, hubs = 3;  // which link to nobody
    std::vector<std::pair<index, index>> links;
    for (index i = hubs; i < n; ++i)
        for (index h = 0; h < hubs; ++h) links.emplace_back(i, h);
    const auto G = graph_of<V>(n, links);
    const long double d = 0.85L;
    // One iteration's rounding errors: where one thread adds a hub's links up, ranks go on changing
    // by them.
    const pagerank_options o{.tol = std::max(20 * this->tol, double((1 - d) * rounding(G, d)))};
    const auto [r, report] = this->rank(G, o);
    const long double others = n - hubs, gain = 1 + d * others / hubs;
    const long double other = (1 - d) / (n - hubs * d * gain), hub = other * gain;
    std::vector<long double> expected(std::size_t(n), other);
    std::fill_n(expected.begin(), hubs, hub);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(distance(r, expected), report.error_bound(0.85) + rounding(G, d));
    const auto again = this->rank(G, o);
    EXPECT_EQ(again.rank, r);
    EXPECT_EQ(again.report.history, report.history);
}

TYPED_TEST(page_rank, spends_max_iter_and_says_so) {
    using V = typename TypeParam::V;
    const auto G = rmat<V>(8, 4, 0.57, 0.19, 0.19, 3);
    const auto [r, report] = this->rank(G, {.tol = 0, .max_iter = 2500});
    EXPECT_EQ(report.history.size(), std::size_t(report.iterations));
    EXPECT_TRUE(report.converged || report.iterations == 2500);
    const auto three = this->rank(G, {.tol = 0, .max_iter = 3});
    EXPECT_FALSE(three.report.converged);
    EXPECT_EQ(three.report.iterations, 3);
    EXPECT_GT(three.report.change, 0);
    EXPECT_EQ(this->rank(G, {.max_iter = 0}).rank[0], V(1 / 256.0));
}

TYPED_TEST(page_rank, of_no_nodes_is_empty) {
    const auto [r, report] = this->rank(graph_of<typename TypeParam::V>(0, {}));
    EXPECT_TRUE(r.empty());
    EXPECT_TRUE(report.converged);
}

TYPED_TEST(page_rank, refuses_what_is_no_graph_and_what_is_no_probability) {
    using V = typename TypeParam::V;
    const csr<V, host> wide{{1, 2}, {0, 1}, {1}, {V(1)}};
    EXPECT_THROW((void)this->rank(wide), argument_error);
    const auto G = graph_of<V>(2, {{0, 1}});
    for (const double damping : {0.0, 1.0, -0.5, std::nan("")})
        EXPECT_THROW((void)this->rank(G, {.damping = damping}), argument_error) << damping;
    EXPECT_THROW((void)this->rank(G, {.tol = -1}), argument_error);
    EXPECT_THROW((void)this->rank(G, {.max_iter = -1}), argument_error);
    const V nan = std::numeric_limits<V>::quiet_NaN(), inf = std::numeric_limits<V>::infinity();
    for (const host_vector<V>& t :
         {host_vector<V>{V(1)}, {V(1), V(-1)}, {V(0), V(0)}, {V(1), nan}, {V(1), inf}})
        EXPECT_THROW((void)this->rank(G, {}, t), argument_error);
}

}  // namespace
}  // namespace nz::test
