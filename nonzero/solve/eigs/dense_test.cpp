#include "nonzero/solve/eigs/dense.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "nonzero/gen/counter.hpp"

namespace nz::test {
namespace {

using entry = std::function<double(int, int)>;

/// The place of entry (i, j) of an m by m matrix whose columns lie one after the other.
std::size_t place(int m, int i, int j) {
    return static_cast<std::size_t>(j) * static_cast<std::size_t>(m) + static_cast<std::size_t>(i);
}

double random(int i, int j) { return 2 * counter(7, 0).uniform(place(64, j, i)) - 1; }

std::vector<double> columns_of(int m, const entry& at) {
    std::vector<double> a;
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i) a.push_back(at(i, j));
    return a;
}

/// The largest element of |V^T V - I|.
double far_from_orthonormal(int m, const std::vector<double>& V) {
    double most = 0;
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i) {
            double sum = i == j ? -1 : 0;
            for (int k = 0; k < m; ++k) sum += V[place(m, k, i)] * V[place(m, k, j)];
            most = std::max(most, std::abs(sum));
        }
    return most;
}

void expect_triplets(const char* what, int m, const entry& at) {
    SCOPED_TRACE(testing::Message() << what << " of " << m);
    const auto a = columns_of(m, at);
    const auto [values, left, right] = dense_svd(m, a);
    // Below the bound of m reflections, of the order m^2 eps (Higham 2002, theorem 19.4).
    const double rounding = 4e-16 * m * std::sqrt(m);
    EXPECT_LE(far_from_orthonormal(m, left), rounding);
    EXPECT_LE(far_from_orthonormal(m, right), rounding);
    EXPECT_TRUE(std::ranges::is_sorted(values, std::greater()));
    EXPECT_GE(values.back(), 0);
    for (int j = 0; j < m; ++j)
        for (int i = 0; i < m; ++i) {
            double sum = 0;
            for (int k = 0; k < m; ++k)
                sum += left[place(m, i, k)] * values[static_cast<std::size_t>(k)] *
                       right[place(m, j, k)];
            EXPECT_NEAR(sum, a[place(m, i, j)], rounding * values.front());
        }
}

TEST(DenseSvd, GivesTripletsOfWhateverMatrix) {
    for (const int m : {1, 2, 5, 31, 60}) {
        expect_triplets("random", m, random);
        expect_triplets("zero", m, [](int, int) { return 0.0; });
        expect_triplets("one repeated value", m,
                        [m](int i, int j) { return j == (i + 1) % m ? 3.0 : 0.0; });
        expect_triplets("rank one", m, [](int i, int j) { return random(i, 0) * random(0, j); });
        expect_triplets("bidiagonal, singular", m, [m](int i, int j) {
            return (j == i && i != m / 2) || j == i + 1 ? random(i, j) : 0.0;
        });
        expect_triplets("columns of many sizes", m,
                        [](int i, int j) { return std::pow(10, -j / 2.0) * random(i, j); });
        expect_triplets("rows of many sizes", m,
                        [](int i, int j) { return std::pow(10, -i / 2.0) * random(i, j); });
        expect_triplets("squares overflow", m, [](int i, int j) { return 1e200 * random(i, j); });
        expect_triplets("squares underflow", m, [](int i, int j) { return 1e-200 * random(i, j); });
    }
    EXPECT_TRUE(dense_svd(0, {}).values.empty());
}

/// Beside dense_svd: values by the rounding errors of a square, and last elements where values are
/// far enough from each other that vectors are known.
void expect_ends(const char* what, int m, const entry& at) {
    SCOPED_TRACE(testing::Message() << what << " of " << m);
    const auto a = columns_of(m, at);
    const auto want = dense_svd(m, a);
    const auto got = dense_svd_ends(m, a);
    ASSERT_EQ(got.values.size(), static_cast<std::size_t>(m));
    const double largest = want.values.front(), unit = largest > 0 ? largest : 1;
    const auto square = [&](double v) { return v / unit * (v / unit); };
    const double rounding = 4e-16 * m * std::sqrt(m);  // as of expect_triplets
    double norm2 = 0;
    for (std::size_t k = 0; k < got.values.size(); ++k) {
        EXPECT_NEAR(square(got.values[k]), square(want.values[k]), rounding) << k;
        norm2 += got.last[k] * got.last[k];
        double gap = largest;
        for (std::size_t j = 0; j < want.values.size(); ++j)
            if (j != k) gap = std::min(gap, std::abs(want.values[j] - want.values[k]));
        if (gap > 1e-3 * largest) {
            const double of_left = want.left[(k + 1) * static_cast<std::size_t>(m) - 1];
            EXPECT_NEAR(got.last[k], std::abs(of_left), 1e-11);
        }
    }
    EXPECT_NEAR(norm2, 1, 1e-13 * m);
}

TEST(DenseSvd, EndsAreThoseOfTheTriplets) {
    for (const int m : {1, 2, 3, 7, 30, 64}) {
        const auto bidiagonal = [](int i, int j) {
            return j == i || j == i + 1 ? 1 + random(i, j) : 0.0;
        };
        expect_ends("bidiagonal", m, bidiagonal);
        expect_ends("bidiagonal, falling", m,
                    [&](int i, int j) { return std::pow(10, -i / 8.0) * bidiagonal(i, j); });
        expect_ends("after a restart", m, [&](int i, int j) {
            const int kept = m / 2;
            if (j < kept) return i == j ? 10.0 - 9.0 * i / m : 0.0;
            return j == kept && i < kept ? random(i, j) : bidiagonal(i, j);
        });
        expect_ends("triangular", m, [](int i, int j) { return i <= j ? random(i, j) : 0.0; });
        expect_ends("zero", m, [](int, int) { return 0.0; });
        expect_ends("squares overflow", m, [&](int i, int j) { return 1e200 * bidiagonal(i, j); });
    }
    EXPECT_TRUE(dense_svd_ends(0, {}).values.empty());
}

/// Beside dense_svd by values, and alone: A v = s u, A^T u = s v, of unit vectors.
void expect_largest(const char* what, int m, int count, const entry& at) {
    SCOPED_TRACE(testing::Message() << what << ", " << count << " of " << m);
    const auto a = columns_of(m, at);
    const auto want = dense_svd(m, a), got = dense_svd_largest(m, count, a);
    ASSERT_EQ(got.values.size(), static_cast<std::size_t>(count));
    ASSERT_EQ(got.left.size(), static_cast<std::size_t>(m) * static_cast<std::size_t>(count));
    ASSERT_EQ(got.right.size(), got.left.size());
    const double rounding = 1e-14 * m * want.values.front();
    for (int k = 0; k < count; ++k) {
        const double s = got.values[static_cast<std::size_t>(k)];
        EXPECT_NEAR(s, want.values[static_cast<std::size_t>(k)], rounding);
        for (int i = 0; i < m; ++i) {
            double Av = 0, Au = 0;
            for (int j = 0; j < m; ++j) {
                Av += a[place(m, i, j)] * got.right[place(m, j, k)];
                Au += a[place(m, j, i)] * got.left[place(m, j, k)];
            }
            EXPECT_NEAR(Av, s * got.left[place(m, i, k)], rounding);
            EXPECT_NEAR(Au, s * got.right[place(m, i, k)], rounding);
        }
        for (int l = 0; l <= k; ++l) {
            double of_left = 0, of_right = 0;
            for (int i = 0; i < m; ++i) {
                of_left += got.left[place(m, i, k)] * got.left[place(m, i, l)];
                of_right += got.right[place(m, i, k)] * got.right[place(m, i, l)];
            }
            EXPECT_NEAR(of_left, k == l, 1e-14 * m);
            EXPECT_NEAR(of_right, k == l, 1e-14 * m);
        }
    }
}

TEST(DenseSvd, LargestAreThoseOfAll) {
    for (const auto& [m, count] : {std::pair{1, 1}, {7, 0}, {7, 3}, {30, 30}, {64, 9}, {128, 21}}) {
        const auto bidiagonal = [](int i, int j) {
            return j == i || j == i + 1 ? 1 + random(i, j) : 0.0;
        };
        expect_largest("bidiagonal", m, count, bidiagonal);
        expect_largest("bidiagonal, falling", m, count,
                       [&](int i, int j) { return std::pow(10, -i / 8.0) * bidiagonal(i, j); });
        expect_largest("one large", m, count, [&](int i, int j) {
            return (i == 0 && j == 0 ? 1e3 : 1.0) * bidiagonal(i, j);
        });
        // Two blocks with the same values, which nothing couples.
        expect_largest("twice the same", m, count, [&, half = m / 2](int i, int j) {
            if (half == 0) return bidiagonal(i, j);
            return i / half == j / half ? bidiagonal(i % half, j % half) : 0.0;
        });
        expect_largest("all the same", m, count, [](int i, int j) { return i == j ? 3.0 : 0.0; });
        expect_largest("zero", m, count, [](int, int) { return 0.0; });
        expect_largest("triangular", m, count,
                       [](int i, int j) { return i <= j ? random(i, j) : 0.0; });
        expect_largest("squares overflow", m, count,
                       [&](int i, int j) { return 1e200 * bidiagonal(i, j); });
    }
    EXPECT_TRUE(dense_svd_largest(0, 0, {}).values.empty());
}

}  // namespace
}  // namespace nz::test
