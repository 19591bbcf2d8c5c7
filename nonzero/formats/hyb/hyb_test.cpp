#include "nonzero/formats/hyb/hyb.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using hyb_d = hyb<double, host>;

TEST(hyb, never_declines) {
    for (const auto& [name, bug, A] : zoo<double>())
        EXPECT_EQ(hyb_d::cost(compute_stats(view(A))).declined, "") << name;
}

TEST(hyb, splits_at_the_largest_width_that_a_third_of_the_rows_reach) {
    const auto width = [](const std::vector<index>& lengths) {
        return hyb_d::from(view(from_lengths<double>(lengths, 20))).split_width;
    };
    EXPECT_EQ(width({}), 0);
    EXPECT_EQ(width({7}), 7);
    EXPECT_EQ(width({0, 0, 9}), 9);           // one of three is a third
    EXPECT_EQ(width({0, 0, 9, 1}), 1);        // one of four is less, two are more
    EXPECT_EQ(width({5, 5, 2, 2, 2, 2}), 5);  // two of six are a third
    EXPECT_EQ(width({5, 4, 2, 2, 2, 2}), 4);
    EXPECT_EQ(width({5, 0, 0, 0, 0}), 0);
}

TEST(hyb, takes_the_width_given_and_multiplies_with_it) {
    const auto A = from_lengths<double>({3, 0, 11, 4, 1, 5, 2}, 12);
    const auto x = random_vector<double>(12, 1), y0 = random_vector<double>(7, 2);
    const auto want = reference_product<double>(transposition::plain, 2.0, view(A), x, -0.5, y0);
    for (const index width : {0, 1, 2, 5, 11}) {
        const auto H = hyb_d::from(view(A), width);
        EXPECT_EQ(to_csr(view(H)).val, A.val) << width;
        EXPECT_EQ(to_csr(view(H)).col_ind, A.col_ind) << width;
        host_vector<double> y = y0;
        spmv<double>(cpu{}, hyb_serial{}, 2, view(H), x, -0.5, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << width;
        y = y0;
        spmv<double>(cpu{3}, hyb_row{}, 2, view(H), x, -0.5, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << width;
    }
}

TEST(hyb, refuses_a_negative_width_and_one_that_pads_too_much) {
    const auto A = from_lengths<double>({2, 2, 2}, 4);
    EXPECT_THROW((void)(hyb_d::from(view(A), -1)), argument_error);
    EXPECT_THROW((void)(hyb_d::from(view(A), 2147483647)), argument_error);
}

}  // namespace
}  // namespace nz::test
