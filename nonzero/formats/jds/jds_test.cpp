// JDS's own tests: the slides' examples in both layouts.
#include "nonzero/formats/jds/jds.hpp"

#include <gtest/gtest.h>

#include "nonzero/plan/stats.hpp"
#include "test/layout_check.hpp"

namespace nz::test {
namespace {

template <class V>
class jds_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(jds_of, value_types);

/// The 4 x 4 matrix of ECE408 2020, lecture 19, and of PMPP chapter 10.
csr<double, host> slide_matrix() {
    return {{4, 4}, {0, 2, 2, 5, 7}, {0, 2, 1, 2, 3, 0, 3}, {3, 1, 2, 4, 1, 1, 1}};
}

// ECE408 2020, lecture 19, "JDS vs. CSR": as printed.
TEST(jds, stores_the_slides_arrays) {
    const auto own = slide_matrix();
    const auto B = jds<double, host>::from(view(own));
    EXPECT_EQ(B.perm, (host_vector<index>{2, 0, 3, 1}));
    EXPECT_EQ(B.row_ptr, (offset_vector{0, 3, 5, 7, 7}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{1, 2, 3, 0, 2, 0, 3}));
    EXPECT_EQ(B.val, (host_vector<double>{2, 4, 1, 3, 1, 1, 1}));
}

// ECE408 2020, lecture 19, "JDS Format with Transposed Layout". The slide's four column pointers
// are three diagonals' starts and the end of the last. Of data and col_index its figure goes on
// after the seven entries that there are; those seven are these.
TEST(jds, stores_the_slides_arrays_transposed) {
    const auto own = slide_matrix();
    const auto B = jds_transposed<double, host>::from(view(own));
    EXPECT_EQ(B.perm, (host_vector<index>{2, 0, 3, 1}));
    EXPECT_EQ(B.jd_ptr, (offset_vector{0, 3, 6, 7}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{1, 0, 0, 2, 2, 3, 3}));
    EXPECT_EQ(B.val, (host_vector<double>{2, 3, 1, 4, 1, 1, 1}));
}

TYPED_TEST(jds_of, both_layouts_keep_every_matrix) {
    using V = TypeParam;
    const int all = int(zoo<V>().size());
    EXPECT_EQ(
        (check_layout<V, jds_serial, jds_row>([](const auto& A) { return jds<V, host>::from(A); })),
        all);
    EXPECT_EQ((check_layout<V, jds_diagonals>(
                  [](const auto& A) { return jds_transposed<V, host>::from(A); })),
              all);
}

// The transposed product hands a thread some of the sorted rows only.
TEST(jds, walks_any_run_of_sorted_rows) {
    const auto own = slide_matrix();
    const auto B = jds_transposed<double, host>::from(view(own));
    std::vector<double> seen;
    for_each_entry(view(B), 1, 3, [&](index i, index, double v) {
        EXPECT_TRUE(i == 0 || i == 3);
        seen.push_back(v);
    });
    EXPECT_EQ(seen, (std::vector<double>{3, 1, 1, 1}));
}

TEST(jds, never_declines) {
    std::vector<index> lengths(200, 0);
    lengths[77] = 1000;
    const auto own = from_lengths<double>(lengths, 1000);
    const matrix_stats s = compute_stats(view(own));
    EXPECT_EQ((jds<double, host>::cost(s).declined), "");
    EXPECT_EQ((jds_transposed<double, host>::cost(s).declined), "");
    EXPECT_NO_THROW((jds_transposed<double, host>::from(view(own))));
}

}  // namespace
}  // namespace nz::test
