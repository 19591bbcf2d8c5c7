// ICRS's own tests: the lecture's example, its parameter, where it declines.
#include "nonzero/formats/icrs/icrs.hpp"

#include <gtest/gtest.h>

#include "nonzero/plan/stats.hpp"
#include "test/layout_check.hpp"

namespace nz::test {
namespace {

template <class V>
class icrs_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(icrs_of, value_types);

/// Liebmann 2015, figure 1: the sample matrix as printed.
csr<double, host> sample_matrix() {
    constexpr double dense[8][8] = {{4, 0, -2, 0, 0, 0, -1, 0}, {-1, 4, 0, 0, 0, 0, 0, -1},
                                    {0, 0, 3, -1, 0, -1, 0, 0}, {0, 0, 0, 4, 0, -1, 0, 0},
                                    {-1, 0, 0, 0, 2, 0, -1, 0}, {0, 0, -1, 0, 0, 4, 0, 0},
                                    {-1, 0, 0, 0, 0, 3, -1, 0}, {0, 0, -1, 0, 0, -1, 0, 4}};
    std::vector<index> row, col;
    host_vector<double> val;
    for (index i = 0; i < 8; ++i)
        for (index j = 0; j < 8; ++j)
            if (dense[i][j] != 0) row.push_back(i), col.push_back(j), val.push_back(dense[i][j]);
    return assemble<double>({8, 8}, row, col, val);
}

// Figure 2 as printed, its columns less 1 as they count from 1. Count and displacement are the
// differences and the first elements of row_ptr.
TEST(icrs, starts_from_the_crs_of_figure_2) {
    const auto A = sample_matrix();
    EXPECT_EQ(A.row_ptr, (offset_vector{0, 3, 6, 9, 11, 14, 16, 19, 22}));
    host_vector<index> col{1, 3, 7, 1, 2, 8, 3, 4, 6, 4, 6, 1, 5, 7, 3, 6, 1, 6, 7, 3, 6, 8};
    for (index& j : col) --j;
    EXPECT_EQ(A.col_ind, col);
    EXPECT_EQ(A.val, (host_vector<double>{4,  -2, -1, -1, 4, -1, 3, -1, -1, 4,  -1,
                                          -1, 2,  -1, -1, 4, -1, 3, -1, -1, -1, 4}));
}

// Figure 3 is an image: its arrays are those that figure 2 becomes when eight rows are interleaved.
// Rows 3 and 5, of two entries, leave the two places of padding.
TEST(icrs, interleaves_the_eight_rows_of_figure_3) {
    const auto A = sample_matrix();
    const auto B = icrs<double, host>::from(view(A), 8);
    EXPECT_EQ(B.row_count, (host_vector<index>{3, 3, 3, 2, 3, 2, 3, 3}));
    EXPECT_EQ(B.row_start, (offset_vector{0, 1, 2, 3, 4, 5, 6, 7}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 0, 2, 3,  0, 2,  0, 2,  //
                                             2, 1, 3, 5,  4, 5,  5, 5,  //
                                             6, 7, 5, -1, 6, -1, 6, 7}));
    EXPECT_EQ(B.val, (host_vector<double>{4,  -1, 3,  4,  -1, -1, -1, -1,  //
                                          -2, 4,  -1, -1, 2,  4,  3,  -1,  //
                                          -1, -1, -1, 0,  -1, 0,  -1, 4}));
}

// The picture in icrs.hpp.
TEST(icrs, keeps_the_stride_in_a_last_group_of_fewer_rows) {
    const csr<double, host> own{{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1, 2, 3, 4, 5}};
    const auto B = icrs<double, host>::from(view(own), 2);
    EXPECT_EQ(B.row_count, (host_vector<index>{2, 1, 2}));
    EXPECT_EQ(B.row_start, (offset_vector{0, 1, 4}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 1, 2, -1, 0, -1, 2, -1}));
    EXPECT_EQ(B.val, (host_vector<double>{1, 3, 2, 0, 4, 0, 5, 0}));
}

TEST(icrs, never_reads_padding) {
    const auto A = sample_matrix();
    auto B = icrs<double, host>::from(view(A), 8);
    for (std::size_t at : {19U, 21U})
        B.col_ind[at] = 0, B.val[at] = std::numeric_limits<double>::quiet_NaN();
    check_product<icrs_serial>(view(A), view(B));
    check_product<icrs_row>(view(A), view(B));
}

TYPED_TEST(icrs_of, any_interleave_keeps_the_matrix) {
    using V = TypeParam;
    const int all = int(zoo<V>().size());
    for (const index interleave : {1, 2, 5, 16, 32, 40}) {
        SCOPED_TRACE("interleave " + std::to_string(interleave));
        const int built = check_layout<V, icrs_serial, icrs_row, icrs_row_32>(
            [&](const auto& A) { return icrs<V, host>::from(A, interleave); });
        EXPECT_GT(built, all / 3);
        if (interleave == 1) {
            EXPECT_EQ(built, all) << "groups of one row have no padding";
        }
    }
}

TEST(icrs, declines_and_refuses_where_holes_pass_three_times_nnz) {
    std::vector<index> lengths(256, 1);
    lengths[5] = 4;  // 256 * 4 elements for 259: more than 3 each; with 32 rows, 320
    const auto own = from_lengths<double>(lengths, 13);
    const matrix_stats s = compute_stats(view(own));
    EXPECT_NE((icrs<double, host>::cost(s).declined), "");
    EXPECT_THROW((icrs<double, host>::from(view(own))), argument_error);
    EXPECT_EQ(icrs_row_32::cost<double>(s).declined, "");
    EXPECT_NO_THROW(icrs_row_32::from(view(own)));
    lengths[5] = 3;  // 256 * 3 for 258
    const auto fits = from_lengths<double>(lengths, 13);
    EXPECT_EQ((icrs<double, host>::cost(compute_stats(view(fits))).declined), "");
    EXPECT_NO_THROW((icrs<double, host>::from(view(fits))));
}

TEST(icrs, refuses_groups_without_rows) {
    const auto A = sample_matrix();
    EXPECT_THROW((icrs<double, host>::from(view(A), 0)), argument_error);
    EXPECT_THROW((icrs<double, host>::from(view(A), -8)), argument_error);
}

}  // namespace
}  // namespace nz::test
