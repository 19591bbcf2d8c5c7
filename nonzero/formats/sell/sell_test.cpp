// SELL-C-sigma's own tests: its parameters, its kinship with HLL, where it declines.
#include "nonzero/formats/sell/sell.hpp"

#include <gtest/gtest.h>

#include "nonzero/formats/hll/hll.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/layout_check.hpp"

namespace nz::test {
namespace {

template <class V>
class sell_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(sell_of, value_types);

// The picture in sell.hpp.
TEST(sell, stores_chunks_of_sorted_rows_and_fills_up_the_last) {
    const csr<double, host> own{{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1, 2, 3, 4, 5}};
    const auto B = sell<double, host>::from(view(own), 2, 3);
    EXPECT_EQ(B.perm, (host_vector<index>{0, 2, 1}));
    EXPECT_EQ(B.chunk_ptr, (offset_vector{0, 4, 6}));
    EXPECT_EQ(B.chunk_width, (host_vector<index>{2, 1}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 0, 2, 2, 1, -1}));
    EXPECT_EQ(B.val, (host_vector<double>{1, 4, 2, 5, 3, 0}));
}

TEST(sell, sorts_within_each_scope_only_and_keeps_the_order_of_equals) {
    const auto own = from_lengths<double>({1, 3, 1, 2, 0, 1, 3, 3}, 5);
    const auto perm = [&](index sort_scope) {
        return sell<double, host>::from(view(own), 2, sort_scope).perm;
    };
    EXPECT_EQ(perm(1), (host_vector<index>{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(perm(4), (host_vector<index>{1, 3, 0, 2, 6, 7, 5, 4}));
    EXPECT_EQ(perm(3), (host_vector<index>{1, 0, 2, 3, 5, 4, 6, 7}));
    EXPECT_EQ(perm(8), (host_vector<index>{1, 6, 7, 3, 0, 2, 5, 4}));
}

// Where the rows are a multiple of the chunk: HLL fills up no last hack.
TYPED_TEST(sell_of, is_hll_by_columns_where_nothing_is_sorted) {
    using V = TypeParam;
    std::vector<index> lengths;
    for (index i = 0; i < 320; ++i) lengths.push_back(4 + i * 7 % 5);
    const auto own = from_lengths<V>(lengths, 50);
    const auto S = sell<V, host>::from(view(own), 32, 1);
    const auto H = hll<V, host>::from(view(own), 32);
    EXPECT_EQ(S.chunk_ptr, H.hack_ptr);
    EXPECT_EQ(S.chunk_width, H.max_nnz);
    EXPECT_EQ(S.col_ind, H.col_ind);
    EXPECT_EQ(S.val, H.val);
}

TYPED_TEST(sell_of, any_parameters_keep_the_matrix) {
    using V = TypeParam;
    const int all = int(zoo<V>().size());
    for (const index chunk : {1, 3, 32, 70}) {
        for (const index sort_scope : {1, 5, 64, 5000}) {
            SCOPED_TRACE("chunk " + std::to_string(chunk) + ", scope " +
                         std::to_string(sort_scope));
            const int built = check_layout<V, sell_serial, sell_chunk>(
                [&](const auto& A) { return sell<V, host>::from(A, chunk, sort_scope); });
            EXPECT_GT(built, all / 3);
            if (chunk == 1) {
                EXPECT_EQ(built, all) << "chunks of one row have no padding";
            }
        }
    }
}

TEST(sell, declines_and_refuses_where_padding_passes_three_times_nnz) {
    std::vector<index> lengths(32, 1);
    lengths[5] = 4;  // 32 * 4 elements for 35: more than 3 each
    const auto own = from_lengths<double>(lengths, 13);
    EXPECT_NE((sell<double, host>::cost(compute_stats(view(own))).declined), "");
    EXPECT_THROW((sell<double, host>::from(view(own))), argument_error);
    lengths[5] = 3;  // 32 * 3 for 34
    const auto fits = from_lengths<double>(lengths, 13);
    EXPECT_EQ((sell<double, host>::cost(compute_stats(view(fits))).declined), "");
    EXPECT_NO_THROW((sell<double, host>::from(view(fits))));
}

TEST(sell, refuses_chunks_and_scopes_without_rows) {
    const auto own = from_lengths<double>({1, 2, 3}, 5);
    EXPECT_THROW((sell<double, host>::from(view(own), 0, 8)), argument_error);
    EXPECT_THROW((sell<double, host>::from(view(own), -1, 8)), argument_error);
    EXPECT_THROW((sell<double, host>::from(view(own), 8, 0)), argument_error);
    EXPECT_THROW((sell<double, host>::from(view(own), 8, -1)), argument_error);
}

}  // namespace
}  // namespace nz::test
