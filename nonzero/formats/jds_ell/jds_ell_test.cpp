// Sectioned JDS-ELL's own tests: the book's example, how sections are cut.
#include "nonzero/formats/jds_ell/jds_ell.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/plan/stats.hpp"
#include "test/layout_check.hpp"

namespace nz::test {
namespace {

template <class V>
class jds_ell_of : public ::testing::Test {};
using value_types = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(jds_ell_of, value_types);

// PMPP chapter 10.5, of which the figure is an image and the text says: the first section has only
// one row; the second is a 2 x 2 matrix, transposed; the third consists of row 1, which is empty,
// so that it starts where the next would.
TEST(jds_ell, stores_the_books_three_sections) {
    const csr<double, host> own{
        {4, 4}, {0, 2, 2, 5, 7}, {0, 2, 1, 2, 3, 0, 3}, {3, 1, 2, 4, 1, 1, 1}};
    const auto B = jds_ell<double, host>::from(view(own));
    EXPECT_EQ(B.perm, (host_vector<index>{2, 0, 3, 1}));
    EXPECT_EQ(B.section_ptr, (host_vector<index>{0, 1, 3, 4}));
    EXPECT_EQ(B.section_width, (host_vector<index>{3, 2, 0}));
    EXPECT_EQ(B.section_start, (offset_vector{0, 3, 7, 7}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{1, 2, 3, 0, 0, 2, 3}));
    EXPECT_EQ(B.val, (host_vector<double>{2, 4, 1, 3, 1, 1, 1}));
}

TEST(jds_ell, cuts_where_rows_fall_below_the_least_fill) {
    const auto own = from_lengths<double>({8, 7, 6, 5, 4, 3, 0, 0}, 9);
    const auto cut = [&](double least_fill) {
        const auto B = jds_ell<double, host>::from(view(own), {least_fill});
        return std::pair(B.section_ptr, B.section_width);
    };
    using list = host_vector<index>;
    EXPECT_EQ(cut(0.75), std::pair(list({0, 3, 5, 6, 8}), list({8, 5, 3, 0})));
    EXPECT_EQ(cut(0.5), std::pair(list({0, 5, 6, 8}), list({8, 3, 0})));
    EXPECT_EQ(cut(0), std::pair(list({0, 6, 8}), list({8, 0})));
    EXPECT_EQ(cut(1), std::pair(list({0, 1, 2, 3, 4, 5, 6, 8}), list({8, 7, 6, 5, 4, 3, 0})));
}

TEST(jds_ell, pads_a_section_to_its_first_row) {
    const auto own = from_columns<double>(3, 5, [](index i) {
        return i == 1 ? std::vector<index>{0, 1, 2, 4} : std::vector<index>{1, 2, 3};
    });
    const auto B = jds_ell<double, host>::from(view(own));
    EXPECT_EQ(B.perm, (host_vector<index>{1, 0, 2}));
    EXPECT_EQ(B.section_width, (host_vector<index>{4}));
    EXPECT_EQ(B.col_ind, (host_vector<index>{0, 1, 1, 1, 2, 2, 2, 3, 3, 4, -1, -1}));
}

TYPED_TEST(jds_ell_of, any_sectioning_keeps_the_matrix) {
    using V = TypeParam;
    const int all = int(zoo<V>().size());
    for (const double least_fill : {0.0, 0.4, 0.75, 1.0}) {
        SCOPED_TRACE("least_fill " + std::to_string(least_fill));
        const int built = check_layout<V, jds_ell_serial, jds_ell_sections>(
            [&](const auto& A) { return jds_ell<V, host>::from(A, {least_fill}); });
        if (least_fill > 1.0 / 3) {
            EXPECT_EQ(built, all);
        } else {
            EXPECT_GT(built, all / 2);
            EXPECT_LT(built, all) << "one section of a power law is mostly padding";
        }
    }
}

TEST(jds_ell, never_declines_with_the_default) {
    std::vector<index> lengths(5000, 1);
    lengths[77] = 1000;
    const auto own = from_lengths<double>(lengths, 1000);
    EXPECT_EQ((jds_ell<double, host>::cost(compute_stats(view(own))).declined), "");
    EXPECT_EQ((jds_ell<double, host>::from(view(own)).val.size()), 5999U);
    EXPECT_THROW((jds_ell<double, host>::from(view(own), {0})), argument_error);
}

TEST(jds_ell, refuses_a_fill_outside_0_to_1) {
    const auto own = from_lengths<double>({1, 2, 3}, 5);
    for (const double wrong : {-0.1, 1.5, std::numeric_limits<double>::quiet_NaN()})
        EXPECT_THROW((jds_ell<double, host>::from(view(own), {wrong})), argument_error) << wrong;
}

}  // namespace
}  // namespace nz::test
