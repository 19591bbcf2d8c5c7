// Products over ranks of rows that a partition shares out.
#include "nonzero/graph/partitioned.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/share_out.hpp"
#include "test/products.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

TEST(partitioned_slice, sends_less_and_is_restored) {
    // A chain whose nodes are numbered at random: cut by rows, nearly all of it travels.
    const index n = 400;
    const auto chain =
        from_rule<double>(n, n, [](index i, index j, double) { return std::abs(i - j) <= 1; });
    ordering shuffled(static_cast<std::size_t>(n));
    for (index i = 0; i < n; ++i) shuffled[std::size_t(i)] = i * 149 % n;
    const auto A = reordered(view(chain), shuffled);
    const auto x = random_vector<double>(std::size_t(n), 5);
    const auto want = reference_product<double>(transposition::plain, 1, view(A), x, 0, {});
    on_ranks(5, [&](const communicator& ranks) {
        const cpu on{.threads = 1, .ranks = &ranks};
        const auto [slice, order] = partitioned_slice(ranks, view(A));
        const distributed<double, cpu> by_parts(on, slice), by_rows(on, slice_of(ranks, view(A)));
        const auto halo_of = [&](const auto& op) {
            return summed(ranks, op.exchanges().columns.size());
        };
        EXPECT_LE(halo_of(by_parts), 16U);
        EXPECT_GE(halo_of(by_rows), 400U);
        const auto Px = reordered<double>(x, order);
        host_vector<double> y(std::size_t(by_parts.shape().rows));
        by_parts.apply(1, slice_of<double>(slice.rows, ranks.rank(), Px), 0, y);
        const auto whole = joined<double>(ranks, y);
        if (ranks.rank() != 0) return;
        EXPECT_TRUE(compare<double>(restored<double>(whole, order), want).holds());
    });
}

TEST(partitioned_slice, takes_more_ranks_than_rows_and_names_wrong_parts) {
    const auto A = from_rule<double>(3, 3, [](index, index, double) { return true; });
    on_ranks(5, [&](const communicator& ranks) {
        EXPECT_EQ(partitioned_slice(ranks, view(A)).first.rows.total(), 3);
    });
    const host_vector<index> wrong{0, 2, 1};
    for (const auto& t : thrown_on_ranks(2, [&](const communicator& ranks) {
             (void)partitioned_slice<double>(ranks, view(A), wrong);
         }))
        EXPECT_EQ(text_of(t), "partitioned_slice: row 1 is of part 2, expected 0 to 1");
}

}  // namespace
}  // namespace nz::test
