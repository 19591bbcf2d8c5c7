#include <gtest/gtest.h>

#include "nonzero/core/agreement.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "test/files.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

struct ranked {
    host_vector<double> rank;
    pagerank_options::report report;
    std::int64_t dangling = 0;
};

ranked ranked_over(int size, const csr<double, host>& G, pagerank_options::links direction,
                   std::span<const double> t) {
    ranked all;
    on_ranks(size, [&](const communicator& ranks) {
        auto slice = slice_of(ranks, view(G));
        const shares rows = slice.rows;
        const auto graph =
            pagerank_graph(cpu{.threads = 1, .ranks = &ranks}, std::move(slice), direction);
        const auto own_t =
            t.empty() ? std::span<const double>() : slice_of<double>(rows, ranks.rank(), t);
        const auto own = graph.rank({}, own_t);
        const std::int64_t dangling = graph.dangling();
        auto whole = joined<double>(ranks, own.rank);
        if (ranks.rank() == 0) all = {std::move(whole), own.report, dangling};
    });
    return all;
}

TEST(pagerank_over_ranks, is_that_of_one_process) {
    const auto G = rmat<double>(9, 4, 0.57, 0.19, 0.19, 3);  // with nodes that have no links
    host_vector<double> t(std::size_t(G.shape.rows), 0);
    for (std::size_t i = 0; i < t.size(); i += 3) t[i] = double(i);
    for (const auto direction : {pagerank_options::links::row_links_to_column,
                                 pagerank_options::links::column_links_to_row})
        for (const std::span<const double> teleport :
             {std::span<const double>(), std::span<const double>(t)}) {
            const pagerank_graph<double, cpu> graph(cpu{1}, view(G), direction);
            const auto want = graph.rank({}, teleport);
            for (const int size : {1, 2, 7}) {
                const auto got = ranked_over(size, G, direction, teleport);
                const auto again = ranked_over(size, G, direction, teleport);
                EXPECT_TRUE(got.report.converged);
                EXPECT_EQ(got.dangling, graph.dangling());
                EXPECT_TRUE(same_bits<double>(got.rank, again.rank));
                // Both stop within tol of one another's limit.
                double difference = 0, sum = 0;
                ASSERT_EQ(got.rank.size(), want.rank.size());
                for (std::size_t i = 0; i < want.rank.size(); ++i)
                    difference += std::abs(got.rank[i] - want.rank[i]), sum += got.rank[i];
                EXPECT_LE(difference, 2 * want.report.error_bound(0.85) + 1e-12);
                EXPECT_NEAR(sum, 1, 1e-9);
            }
        }
}

TEST(pagerank_over_ranks, more_ranks_than_nodes) {
    const csr<double, host> G{{2, 2}, {0, 1, 2}, {1, 0}, {1, 1}};
    const host_vector<double> t{1, 3};
    for (const std::span<const double> teleport :
         {std::span<const double>(), std::span<const double>(t)}) {
        const auto got = ranked_over(5, G, pagerank_options::links::row_links_to_column, teleport);
        EXPECT_TRUE(got.report.converged);
        ASSERT_EQ(got.rank.size(), 2U);
        EXPECT_NEAR(got.rank[0] + got.rank[1], 1, 1e-12);
    }
}

TEST(pagerank_over_ranks, all_learn_of_a_wrong_teleport_vector_and_of_other_options) {
    const csr<double, host> G{{2, 2}, {0, 1, 2}, {1, 0}, {1, 1}};
    const auto message = [&](double element, double damping) {
        const auto thrown = thrown_on_ranks(2, [&](const communicator& ranks) {
            const bool second = ranks.rank() == 1;
            const auto graph =
                pagerank_graph(cpu{.threads = 1, .ranks = &ranks}, slice_of(ranks, view(G)),
                               pagerank_options::links::row_links_to_column);
            const host_vector<double> t{second ? element : 1.0};
            (void)graph.rank({.damping = second ? damping : 0.85}, t);
        });
        EXPECT_EQ(text_of(thrown[0]), text_of(thrown[1]));
        return text_of(thrown[0]);
    };
    EXPECT_NE(message(-1, 0.85).find("teleport vector is negative"), std::string::npos);
    EXPECT_NE(message(1, 0.8).find("rank 1 was given other arguments"), std::string::npos);
    EXPECT_NE(message(1, 2).find("damping is 2"), std::string::npos);
}

}  // namespace
}  // namespace nz::test
