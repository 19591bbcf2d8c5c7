#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using dia_d = dia<double, host>;

TEST(dia, declines_a_random_matrix_and_says_why) {
    const auto A = from_rule<double>(200, 200, [](index, index, double u) { return u > 0.95; });
    const estimate e = dia_d::cost(compute_stats(view(A)));
    EXPECT_NE(e.declined.find("more than 3 for each"), std::string::npos) << e.declined;
    EXPECT_THROW((void)dia_d::from(view(A)), argument_error);
}

TEST(dia, takes_a_matrix_of_four_rows_though_a_diagonal_has_32_places) {
    const auto A = from_rule<double>(4, 4, [](index i, index j, double) { return i == j; });
    EXPECT_EQ(dia_d::cost(compute_stats(view(A))).declined, "");
    EXPECT_EQ(dia_d::from(view(A)).diagonals.size(), 32u);
}

// 70 rows end in a word of 6; columns 2, 5, 8, ... hold nothing, so no word is full.
TEST(dia, padding_meets_infinities_and_leave_no_trace) {
    const auto A = from_rule<double>(
        70, 66, [](index i, index j, double) { return std::abs(i - j) <= 2 && j % 3 != 2; });
    const auto D = dia_d::from(view(A));
    host_vector<double> x = random_vector<double>(66, 1);
    for (std::size_t j = 2; j < x.size(); j += 3) x[j] = std::numeric_limits<double>::infinity();
    const auto want = reference_product<double>(transposition::plain, 1.0, view(A), x, 0.0, {});
    host_vector<double> y(70, std::numeric_limits<double>::quiet_NaN());
    spmv<double>(cpu{}, dia_serial{}, 1, view(D), x, 0, y);
    EXPECT_TRUE(compare<double>(y, want).holds());
    spmv<double>(cpu{3}, dia_row{}, 1, view(D), x, 0, y);
    EXPECT_TRUE(compare<double>(y, want).holds());
}

// 2,000 rows are four blocks of sums, and most words of them are full.
TEST(dia, full_words_and_blocks_of_sums_agree_with_the_reference) {
    const auto A = from_rule<double>(2000, 2100, [](index i, index j, double) {
        return j - i == -700 || j - i == 0 || j - i == 3 || j - i == 1500;
    });
    const auto D = dia_d::from(view(A));
    const auto x = random_vector<double>(2100, 1), y0 = random_vector<double>(2000, 2);
    const auto want = reference_product<double>(transposition::plain, 2.0, view(A), x, -0.5, y0);
    for (const int threads : {1, 2, 7}) {
        host_vector<double> y = y0;
        spmv<double>(cpu{threads}, dia_row{}, 2, view(D), x, -0.5, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << threads << " threads";
    }
}

TEST(dia, keeps_a_stored_zero_apart_from_padding) {
    const csr<double, host> A{{3, 3}, {0, 1, 1, 2}, {0, 2}, {0.0, 5.0}};
    const auto D = dia_d::from(view(A));
    ASSERT_EQ(D.offsets.size(), 1u);
    EXPECT_EQ(D.stored[0], 0b101u);
    EXPECT_EQ(to_csr(view(D)).val, A.val);
}

}  // namespace
}  // namespace nz::test
