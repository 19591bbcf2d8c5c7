#include "nonzero/gen/tiled.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/error.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/transpose.hpp"

namespace nz {
namespace {

template <class V>
class tiled_of : public testing::Test {};
using value_types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(tiled_of, value_types);

/// The block diagonal, entry by entry.
template <class V>
csr<V, host> by_hand(const csr<V, host>& A, index copies) {
    host_vector<index> row, col;
    host_vector<V> val;
    for (index c = 0; c < copies; ++c)
        for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
            row.push_back(c * A.shape.rows + i), col.push_back(c * A.shape.cols + j);
            val.push_back(v);
        });
    return assemble<V>({copies * A.shape.rows, copies * A.shape.cols}, row, col, val);
}

template <class V>
void expect_equal(const csr<V, host>& A, const csr<V, host>& B) {
    EXPECT_TRUE(A.shape == B.shape);
    EXPECT_EQ(A.row_ptr, B.row_ptr);
    EXPECT_EQ(A.col_ind, B.col_ind);
    EXPECT_EQ(A.val, B.val);
}

TYPED_TEST(tiled_of, is_the_block_diagonal) {
    using V = TypeParam;
    // More columns than rows, an empty first and last row; and one of many rows.
    const csr<V, host> small{{4, 7}, {0, 0, 3, 4, 4}, {0, 2, 6, 5}, {V(1), V(-2), V(3), V(0.5)}};
    const csr<V, host> A = random<V>(700, 300, 9, 1);
    for (const index copies : {1, 2, 5}) {
        expect_equal(tiled(view(small), copies), by_hand(small, copies));
        expect_equal(tiled(view(A), copies), by_hand(A, copies));
    }
    const csr<V, host> no_entries{{2, 3}, {0, 0, 0}, {}, {}};
    expect_equal(tiled(view(no_entries), 3), by_hand(no_entries, 3));
}

TEST(tiled, takes_the_fewest_copies_that_hold_the_entries) {
    EXPECT_EQ(copies_for(1, 10), 1);
    EXPECT_EQ(copies_for(10, 10), 1);
    EXPECT_EQ(copies_for(11, 10), 2);
    EXPECT_EQ(copies_for(150000000, 1), 150000000);
    EXPECT_THROW((void)copies_for(0, 10), argument_error);
    EXPECT_THROW((void)copies_for(10, 0), argument_error);
}

TEST(tiled, refuses_what_indices_and_memory_do_not_hold) {
    const csr<double, host> wide{{1, 1 << 30}, {0, 1}, {5}, {1.0}};
    const csr<double, host> tall = transpose(view(csr<double, host>{{1, 3}, {0, 1}, {2}, {1.0}}));
    EXPECT_THROW((void)tiled(view(wide), 2), argument_error);          // 2^31 columns
    EXPECT_THROW((void)tiled(view(tall), 715827883), argument_error);  // 2^31 + 1 rows
    EXPECT_THROW((void)tiled(view(tall), 0), argument_error);
    EXPECT_THROW((void)tiled(view(tall), -1), argument_error);
    try {
        (void)tiled(view(wide), 2);
    } catch (const argument_error& e) {
        EXPECT_NE(std::string(e.what()).find("columns"), std::string::npos) << e.what();
    }
    // 2^31 - 1 rows of 4000 entries: 10^14 bytes.
    csr<double, host> dense{{1, 1}, {0, 4000}, {}, {}};
    dense.col_ind.assign(4000, 0), dense.val.assign(4000, 1.0);
    EXPECT_THROW((void)tiled(view(dense), 2147483647), device_error);
}

}  // namespace
}  // namespace nz
