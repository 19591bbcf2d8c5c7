// Matchings against all permutations of small matrices, and by their dual variables on large ones.
#include "nonzero/solve/scaling/matching.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "nonzero/gen/counter.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

template <class V>
class scaling : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(scaling, values);

/// About `share` of the entries, whose magnitudes spread over 2^-20 to 2^20.
template <class V>
csr<V, host> scattered(index n, double share, std::uint64_t seed) {
    std::vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < n; ++i)
        for (index j = 0; j < n; ++j) {
            const counter at(seed, std::uint64_t(i) * std::uint64_t(n) + std::uint64_t(j));
            if (at.uniform(0) >= share) continue;
            row.push_back(i), col.push_back(j);
            val.push_back(at.value<V>(1) * V(real<V>(std::exp2(40 * at.uniform(2) - 20))));
        }
    return assemble<V>({n, n}, row, col, val);
}

template <class V>
std::vector<std::vector<double>> dense_log2(const csr<V, host>& A) {
    const auto n = std::size_t(A.shape.rows);
    std::vector all(n, std::vector<double>(n, -INFINITY));
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        all[std::size_t(i)][std::size_t(j)] = std::log2(double(std::abs(v)));
    });
    return all;
}

/// log2 of the largest product over all permutations; -infinity where all are zero.
template <class V>
double best_of_all(const csr<V, host>& A) {
    const auto sizes = dense_log2(A);
    std::vector<std::size_t> p(sizes.size());
    std::iota(p.begin(), p.end(), 0);
    double best = -INFINITY;
    do {
        double sum = 0;
        for (std::size_t i = 0; i < p.size(); ++i) sum += sizes[i][p[i]];
        best = std::max(best, sum);
    } while (std::ranges::next_permutation(p).found);
    return best;
}

template <class V>
void expect_scaled(const csr<V, host>& A, const matching& m) {
    const auto M = rearranged<V>(view(A), onto_diagonal(m));
    for_each_entry(view(M), 0, A.shape.rows, [&](index i, index j, V v) {
        const double size = std::abs(v);
        ASSERT_LE(size, 2.001) << i << ", " << j;
        if (i == j) {
            ASSERT_GE(size, 0.4999) << i;
        }
    });
    std::vector<bool> taken(m.row_of.size(), false);
    for (const index i : m.row_of) {
        ASSERT_FALSE(taken[std::size_t(i)]);
        taken[std::size_t(i)] = true;
    }
}

TYPED_TEST(scaling, of_small_matrices_has_the_largest_product) {
    using V = TypeParam;
    int singular = 0;
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
        const auto A = scattered<V>(index(1 + seed % 6), 0.35 + 0.1 * double(seed % 5), seed);
        const double best = best_of_all(A);
        const matching m = match(view(A));
        ASSERT_EQ(m.is_perfect(), std::isfinite(best)) << seed;
        if (!m.is_perfect()) {
            ++singular;
            ASSERT_GE(m.col, 0);
            EXPECT_THROW(require_perfect(m), argument_error);
            continue;
        }
        const auto sizes = dense_log2(A);
        double sum = 0;
        for (std::size_t j = 0; j < sizes.size(); ++j) sum += sizes[std::size_t(m.row_of[j])][j];
        ASSERT_NEAR(sum, best, 1e-9 * (1 + std::abs(best))) << seed;
        expect_scaled(A, m);
    }
    EXPECT_GT(singular, 20);
}

/// A matching is maximal where no entry is above 1 once scaled and all that are matched are 1.
TYPED_TEST(scaling, of_large_matrices_is_certified_by_its_dual_variables) {
    using V = TypeParam;
    expect_scaled(scattered<V>(300, 0.03, 1), match(view(scattered<V>(300, 0.03, 1))));
    // A permuted and badly scaled grid, whose diagonal is nowhere.
    auto grid = convected(laplace2d<V>(40, 40));
    const index n = grid.shape.rows;
    std::vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(grid), 0, n, [&](index i, index j, V v) {
        row.push_back((i * 7 + 3) % n), col.push_back(j);
        val.push_back(v * V(real<V>(std::ldexp(1.0, i % 21 - j % 13))));
    });
    const auto A = assemble<V>({n, n}, row, col, val);
    const auto m = match(view(A));
    ASSERT_TRUE(m.is_perfect());
    expect_scaled(A, m);
    EXPECT_EQ(match(view(A)).row_of, m.row_of);
}

TYPED_TEST(scaling, matches_as_many_as_it_can) {
    using V = TypeParam;
    // Rows 1 and 2 have but one column between them.
    const std::vector<index> row{0, 0, 1, 2, 3}, col{0, 1, 1, 1, 3};
    const host_vector<V> val(5, V(1));
    const auto m = match(view(assemble<V>({4, 4}, row, col, val)));
    EXPECT_EQ(std::ranges::count(m.row_of, -1), 1);
    EXPECT_TRUE(m.row == 1 || m.row == 2);
    EXPECT_EQ(m.col, 2);
    try {
        require_perfect(m);
        FAIL();
    } catch (const argument_error& e) {
        EXPECT_NE(std::string(e.what()).find("for column 2"), std::string::npos) << e.what();
    }
    // Stored zeros match nothing; a zero row is the one without a match.
    auto zero = laplace2d<V>(3, 3);
    for (offset k = zero.row_ptr[4]; k < zero.row_ptr[5]; ++k) zero.val[std::size_t(k)] = V(0);
    EXPECT_EQ(match(view(zero)).row, 4);
    EXPECT_TRUE(match(view(csr<V, host>{{0, 0}, {0}, {}, {}})).is_perfect());
}

TYPED_TEST(scaling, refuses_what_is_not_finite_and_what_is_not_square) {
    using V = TypeParam;
    auto A = laplace2d<V>(3, 3);
    A.val[5] = V(std::numeric_limits<real<V>>::quiet_NaN());
    EXPECT_THROW((void)match(view(A)), argument_error);
    EXPECT_THROW((void)equilibration(view(A)), argument_error);
    EXPECT_THROW((void)match(view(random<V>(4, 5, 2, 1))), argument_error);
    EXPECT_THROW((void)match_where_needed(view(random<V>(4, 5, 2, 1))), argument_error);
}

TYPED_TEST(scaling, by_powers_of_two_makes_rows_and_columns_alike) {
    using V = TypeParam;
    auto A = laplace2d<V>(20, 20);
    for (index i = 0; i < A.shape.rows; ++i)
        for (offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
            A.val[std::size_t(k)] *=
                V(real<V>(std::ldexp(1.0, i % 17 + A.col_ind[std::size_t(k)] % 17)));  // symmetric
    const auto s = equilibration(view(A));
    EXPECT_EQ(s.rows, s.cols);
    std::vector<double> most(std::size_t(A.shape.cols), 0.0);
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        const double size =
            std::abs(times_power_of_2(v, s.rows[std::size_t(i)] + s.cols[std::size_t(j)]));
        most[std::size_t(j)] = std::max(most[std::size_t(j)], size);
    });
    for (const double m : most) {
        EXPECT_GE(m, 0.45);
        EXPECT_LE(m, 2.2);
    }
    EXPECT_EQ(match_where_needed(view(A)).row_of[17], 17);
}

}  // namespace
}  // namespace nz::test
