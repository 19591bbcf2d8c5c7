#include "nonzero/formats/ell/ell.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using ell_d = ell<double, host>;

TEST(ell, declines_one_long_row_and_says_why) {
    std::vector<index> lengths(100, 2);
    lengths[40] = 90;
    const auto A = from_lengths<double>(lengths, 100);
    const estimate e = ell_d::cost(compute_stats(view(A)));
    EXPECT_NE(e.declined.find("9000 entries for 288 nonzeros"), std::string::npos) << e.declined;
    EXPECT_THROW((void)ell_d::from(view(A)), argument_error);
}

TEST(ell, declines_beyond_three_times_the_nonzeros_and_not_at_it) {
    const auto declined = [](index longest) {
        const auto A = from_lengths<double>({longest, 0, 0, 1, 1}, 10);
        return !ell_d::cost(compute_stats(view(A))).declined.empty();
    };
    EXPECT_FALSE(declined(3));  // 15 places for 5 nonzeros
    EXPECT_TRUE(declined(4));   // 20 for 6
}

TEST(ell, refuses_a_width_that_no_matrix_has) {
    const auto A = from_lengths<double>({2, 2, 2}, 4);
    EXPECT_THROW((void)(ell_d::from(view(A), -1)), argument_error);
    EXPECT_THROW((void)(ell_d::from(view(A), 2147483647)), argument_error);
}

TEST(ell, cuts_rows_at_the_width_given) {
    const csr<double, host> A{{2, 3}, {0, 3, 4}, {0, 1, 2, 2}, {1, 2, 3, 4}};
    const auto E = ell_d::from(view(A), 2);
    const csr<double, host> cut = to_csr(view(E));
    EXPECT_EQ(cut.row_ptr, (offset_vector{0, 2, 3}));
    EXPECT_EQ(cut.col_ind, (host_vector<index>{0, 1, 2}));
    EXPECT_EQ(cut.val, (host_vector<double>{1, 2, 4}));
}

}  // namespace
}  // namespace nz::test
