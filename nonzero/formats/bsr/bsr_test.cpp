#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/plan/stats.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using bsr_d = bsr<double, host>;

TEST(bsr, holds_the_arrays_of_its_picture) {
    const csr<double, host> A{{3, 3}, {0, 2, 3, 5}, {0, 2, 1, 0, 2}, {1, 2, 3, 4, 5}};
    const auto B = bsr_d::from(view(A), 2, 2);
    EXPECT_EQ(B.block_row_ptr, (offset_vector{0, 2, 4}));
    EXPECT_EQ(B.block_col_ind, (host_vector<index>{0, 1, 0, 1}));
    EXPECT_EQ(B.stored, (host_vector<std::uint64_t>{0b1001, 1, 1, 1}));
    EXPECT_EQ(B.val, (host_vector<double>{1, 0, 0, 3, 2, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0}));
    EXPECT_EQ(fill(view(B)), 16.0 / 5);
}

TEST(bsr, chooses_the_side_of_the_blocks_in_the_matrix) {
    for (const index side : matrix_stats::block_sides) {
        const auto A = from_rule<double>(48, 48, [side](index i, index j, double) {
            return (i / side + 2 * (j / side)) % 5 == 0;
        });
        const auto B = bsr_d::from(view(A));
        EXPECT_EQ(B.block_rows, side);
        EXPECT_EQ(B.block_cols, side);
        EXPECT_EQ(fill(view(B)), 1.0);
    }
}

TEST(bsr, declines_scattered_entries_and_says_why) {
    const auto A =
        from_rule<double>(100, 100, [](index i, index j, double) { return j == 7 * i % 100; });
    const estimate e = bsr_d::cost(compute_stats(view(A)));
    EXPECT_NE(e.declined.find("times the bytes of CSR, more than 1.5"), std::string::npos)
        << e.declined;
    EXPECT_THROW((void)bsr_d::from(view(A)), argument_error);
}

TEST(bsr, refuses_blocks_without_values_or_with_more_than_64) {
    const auto A = from_lengths<double>({2, 2, 2}, 4);
    for (const auto& [r, c] : {shape{0, 2}, {2, 0}, {-1, -1}, {5, 13}, {65, 1}, {1 << 30, 4}}) {
        EXPECT_THROW((void)(bsr_d::from(view(A), r, c)), argument_error) << r << " x " << c;
        EXPECT_THROW((void)count_blocks(view(A), r, c), argument_error) << r << " x " << c;
    }
    EXPECT_NO_THROW((void)(bsr_d::from(view(A), 1, 64)));
    EXPECT_NO_THROW((void)(bsr_d::from(view(A), 64, 1)));
}

// Every third column is empty and meets an infinity: in no shape of block may fill touch it.
TEST(bsr, any_block_multiplies_and_its_fill_meets_infinities_without_a_trace) {
    const auto A = from_rule<double>(50, 47, [](index i, index j, double u) {
        return j % 3 != 2 && ((i / 8 + j / 8) % 2 == 0 || u > 0.8);
    });
    host_vector<double> x = random_vector<double>(47, 1);
    for (std::size_t j = 2; j < x.size(); j += 3) x[j] = std::numeric_limits<double>::infinity();
    const auto y0 = random_vector<double>(50, 2);
    const auto want = reference_product<double>(transposition::plain, 2.0, view(A), x, -0.5, y0);
    for (const auto& [r, c] : {shape{1, 1},
                               {1, 2},
                               {2, 2},
                               {3, 3},
                               {3, 2},
                               {4, 4},
                               {6, 6},
                               {8, 8},
                               {5, 5},
                               {1, 64},
                               {64, 1},
                               {7, 9}}) {
        const auto B = bsr_d::from(view(A), r, c);
        EXPECT_EQ(to_csr(view(B)).val, A.val) << r << " x " << c;
        EXPECT_EQ(std::int64_t(B.stored.size()), count_blocks(view(A), r, c)) << r << " x " << c;
        host_vector<double> y = y0;
        spmv<double>(cpu{}, bsr_serial{}, 2, view(B), x, -0.5, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << r << " x " << c;
        y = y0;
        spmv<double>(cpu{3}, bsr_block{}, 2, view(B), x, -0.5, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << r << " x " << c;
    }
}

// Blocks that are full, whatever their shape, take the loops without tests.
TEST(bsr, full_blocks_multiply) {
    const auto A = from_rule<double>(48, 48, [](index, index, double) { return true; });
    const auto x = random_vector<double>(48, 1);
    const auto want = reference_product<double>(transposition::plain, 1.0, view(A), x, 0.0, {});
    for (const auto& [r, c] : {shape{1, 1}, {2, 2}, {3, 3}, {2, 3}, {4, 4}, {6, 6}, {8, 8}}) {
        const auto B = bsr_d::from(view(A), r, c);
        EXPECT_EQ(fill(view(B)), 1.0);
        host_vector<double> y(48, std::numeric_limits<double>::quiet_NaN());
        spmv<double>(cpu{2}, bsr_block{}, 1, view(B), x, 0, y);
        EXPECT_TRUE(compare<double>(y, want).holds()) << r << " x " << c;
    }
}

}  // namespace
}  // namespace nz::test
