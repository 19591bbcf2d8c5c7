// HLL's own tests: the slides' examples, its parameter, where it declines.
#include "nonzero/formats/hll/hll.hpp"

#include <gtest/gtest.h>

#include "nonzero/plan/stats.hpp"
#include "test/layout_check.hpp"

namespace nz::test {
namespace {

template <class V>
class hll_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(hll_of, value_types);

/// The matrix (a) of Calzetta and Lori 2025, HLL.
csr<double, host> slide_matrix() {
    return {{4, 4}, {0, 2, 2, 5, 7}, {0, 2, 1, 2, 3, 0, 3}, {3, 1, 2, 4, 1, 1, 1}};
}

// The slide's arrays (b) show values 3 1 | 0 0 | 2 4 | 1 1 in a width of 2 and drop the third entry
// of row 2, which the matrix (a) beside them has: as printed they are those of the matrix without
// it. Hacks of 4 rows make the whole one hack.
TEST(hll, stores_the_slides_arrays_row_by_row) {
    const csr<double, host> printed{
        {4, 4}, {0, 2, 2, 4, 6}, {0, 2, 1, 2, 0, 3}, {3, 1, 2, 4, 1, 1}};
    const auto B = hll_rows<double, host>::from(view(printed), 4);
    EXPECT_EQ(B.max_nnz, (host_vector<index>{2}));
    EXPECT_EQ(B.val, (host_vector<double>{3, 1, 0, 0, 2, 4, 1, 1}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 2, -1, -1, 1, 2, 0, 3}));
}

TEST(hll, pads_every_hack_to_its_own_width) {
    const auto own = slide_matrix();
    const auto rows = hll_rows<double, host>::from(view(own), 2);
    EXPECT_EQ(rows.hack_ptr, (offset_vector{0, 4, 10}));
    EXPECT_EQ(rows.max_nnz, (host_vector<index>{2, 3}));
    EXPECT_EQ(rows.val, (host_vector<double>{3, 1, 0, 0, 2, 4, 1, 1, 1, 0}));
    EXPECT_EQ(rows.col_ind, (host_vector<index>{0, 2, -1, -1, 1, 2, 3, 0, 3, -1}));
    const auto columns = hll<double, host>::from(view(own), 2);
    EXPECT_EQ(columns.hack_ptr, rows.hack_ptr);
    EXPECT_EQ(columns.max_nnz, rows.max_nnz);
    EXPECT_EQ(columns.val, (host_vector<double>{3, 0, 1, 0, 2, 1, 4, 1, 1, 0}));
    EXPECT_EQ(columns.col_ind, (host_vector<index>{0, -1, 2, -1, 1, 0, 2, 3, 3, -1}));
}

// The slide's example of column-major access: a hack of 3 rows and width 2, idx = c * rows + r =
// 1 * 3 + 2 = 5, AS[5] = 4, JA[5] = 1. It leaves the place of a zero free where it stands (rows 0
// and 1 keep column 0 in stored column 0 and column 1 in stored column 1); here, and in the
// slide's own arrays (b), a row's entries stand first and padding ends it, so that the 2 of row 1
// is in stored column 0.
TEST(hll, finds_the_slides_entry_of_row_2_in_column_1) {
    const csr<double, host> own{{3, 2}, {0, 1, 2, 4}, {0, 1, 0, 1}, {5, 2, 3, 4}};
    const auto B = hll<double, host>::from(view(own));
    const std::int64_t rows = hack_rows(B, 0);
    EXPECT_EQ(rows, 3);
    EXPECT_EQ(B.max_nnz, (host_vector<index>{2}));
    EXPECT_EQ(B.val, (host_vector<double>{5, 2, 3, 0, 0, 4}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 1, 0, -1, -1, 1}));
    const auto at = std::size_t(1 * rows + 2);
    EXPECT_EQ(at, 5U);
    EXPECT_EQ(B.val[at], 4);
    EXPECT_EQ(B.col_ind[at], 1);
}

TYPED_TEST(hll_of, any_hack_size_keeps_the_matrix) {
    using V = TypeParam;
    const int all = int(zoo<V>().size());
    for (const index hack_size : {1, 2, 7, 32, 100}) {
        SCOPED_TRACE("hack_size " + std::to_string(hack_size));
        const int columns = check_layout<V, hll_column_serial, hll_column_guided>(
            [&](const auto& A) { return hll<V, host>::from(A, hack_size); });
        const int rows = check_layout<V, hll_serial, hll_row_guided>(
            [&](const auto& A) { return hll_rows<V, host>::from(A, hack_size); });
        EXPECT_EQ(columns, rows);
        EXPECT_GT(columns, all / 2);
        if (hack_size == 1) {
            EXPECT_EQ(columns, all) << "hacks of one row have no padding";
        }
    }
}

TEST(hll, declines_and_refuses_where_padding_passes_three_times_nnz) {
    const auto own = from_lengths<double>({13, 1, 1, 1}, 13);  // 4 * 13 elements for 16: 3.25 each
    EXPECT_NE((hll<double, host>::cost(compute_stats(view(own))).declined), "");
    EXPECT_THROW((hll<double, host>::from(view(own))), argument_error);
    EXPECT_THROW((hll_rows<double, host>::from(view(own))), argument_error);
    const auto fits = from_lengths<double>({9, 1, 1, 1}, 13);  // 4 * 9 elements for 12: 3 each
    EXPECT_EQ((hll<double, host>::cost(compute_stats(view(fits))).declined), "");
    EXPECT_NO_THROW((hll<double, host>::from(view(fits))));
}

TEST(hll, refuses_a_hack_without_rows) {
    const auto own = slide_matrix();
    EXPECT_THROW((hll<double, host>::from(view(own), 0)), argument_error);
    EXPECT_THROW((hll_rows<double, host>::from(view(own), -32)), argument_error);
}

}  // namespace
}  // namespace nz::test
