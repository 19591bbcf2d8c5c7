// Products of sparse matrices against dense ones in long double.
#include "nonzero/matrix/spgemm.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/gen/generate.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

using dense = std::vector<long double>;

template <class V>
dense to_dense(const csr<V, host>& A, bool magnitudes) {
    dense a(std::size_t(A.shape.rows) * std::size_t(A.shape.cols), 0);
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        const auto x = static_cast<long double>(v);
        a[std::size_t(i) * std::size_t(A.shape.cols) + std::size_t(j)] =
            magnitudes ? std::abs(x) : x;
    });
    return a;
}
dense times(const dense& a, const dense& b, index rows, index inner, index cols) {
    dense c(std::size_t(rows) * std::size_t(cols), 0);
    for (std::size_t i = 0; i < std::size_t(rows); ++i)
        for (std::size_t k = 0; k < std::size_t(inner); ++k)
            for (std::size_t j = 0; j < std::size_t(cols); ++j)
                c[i * std::size_t(cols) + j] +=
                    a[i * std::size_t(inner) + k] * b[k * std::size_t(cols) + j];
    return c;
}

/// Every entry within gamma_n of the product of the magnitudes, n roundings in all.
template <class V>
void expect_near(const csr<V, host>& C, const dense& want, const dense& size, long double n) {
    const long double u = std::numeric_limits<V>::epsilon() / 2, gamma = n * u / (1 - n * u);
    const dense got = to_dense(C, false);
    for (std::size_t k = 0; k < got.size(); ++k)
        ASSERT_LE(std::abs(got[k] - want[k]), gamma * size[k]) << "entry " << k;
}

template <class V>
void expect_same(const csr<V, host>& A, const csr<V, host>& B) {
    EXPECT_EQ(A.shape, B.shape);
    EXPECT_EQ(A.row_ptr, B.row_ptr);
    EXPECT_EQ(A.col_ind, B.col_ind);
    EXPECT_EQ(A.val, B.val);
}

template <class V>
class products : public ::testing::Test {};
using real_values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(products, real_values);

TYPED_TEST(products, are_those_of_dense_matrices) {
    using V = TypeParam;
    for (const auto& [name, bug, A] : zoo<V>()) {
        if (A.shape.rows > 500 || A.shape.cols > 500) continue;
        SCOPED_TRACE(name);
        const auto T = transpose(view(A));
        const auto C = spgemm(cpu{}, view(A), view(T));
        validate(view(C));
        const auto [rows, inner] = A.shape;
        expect_near(C, times(to_dense(A, false), to_dense(T, false), rows, inner, rows),
                    times(to_dense(A, true), to_dense(T, true), rows, inner, rows), inner + 1);
    }
}

TYPED_TEST(products, of_galerkin_are_those_of_dense_matrices) {
    using V = TypeParam;
    for (const auto& entry : zoo<V>()) {
        const auto& A = entry.A;
        const index n = A.shape.rows;
        if (A.shape.rows != A.shape.cols || n > 200) continue;
        SCOPED_TRACE(entry.name);
        const index m = n / 3 + 1;
        const auto P =
            from_rule<V>(n, m, [](index i, index j, double u) { return i / 3 == j || u > 0.9; });
        const auto R = transposed(cpu{}, view(P));
        expect_same(R, transpose(view(P)));
        const auto C = galerkin_product(cpu{}, view(R), view(A), view(P));
        validate(view(C));
        const auto product = [&](bool magnitudes) {
            return times(to_dense(R, magnitudes),
                         times(to_dense(A, magnitudes), to_dense(P, magnitudes), n, n, m), m, n, m);
        };
        expect_near(C, product(false), product(true), 2 * n + 2);
    }
}

TYPED_TEST(products, add_in_the_order_of_the_left_row) {
    using V = TypeParam;
    auto A = from_rule<V>(300, 200, [](index, index, double u) { return u > 0.8; });
    for (std::size_t k = 0; k < A.val.size(); k += 3) A.val[k] = k % 2 == 0 ? V(0) : V(-0.0);
    const auto T = transpose(view(A));
    const auto C = spgemm(cpu{.threads = 2}, view(A), view(T));
    std::vector<V> sum(300);
    std::vector<char> is_met(300);
    for (index i = 0; i < 300; ++i) {
        std::fill(is_met.begin(), is_met.end(), char(0));
        for_each_entry(view(A), i, i + 1, [&](index, index k, V a) {
            for_each_entry(view(T), k, k + 1, [&](index, index j, V t) {
                const V product = a * t;
                V& to = sum[std::size_t(j)];
                to = is_met[std::size_t(j)] != 0 ? to + product : product;
                is_met[std::size_t(j)] = 1;
            });
        });
        for_each_entry(view(C), i, i + 1, [&](index, index j, V c) {
            ASSERT_EQ(is_met[std::size_t(j)], 1);
            ASSERT_EQ(c, sum[std::size_t(j)]);
            ASSERT_EQ(std::signbit(c), std::signbit(sum[std::size_t(j)]));
            is_met[std::size_t(j)] = 0;
        });
        ASSERT_EQ(std::count(is_met.begin(), is_met.end(), char(1)), 0);
    }
}

TYPED_TEST(products, have_the_same_bits_for_any_number_of_threads) {
    using V = TypeParam;
    const auto A = from_rule<V>(3000, 900, [](index, index, double u) { return u > 0.99; });
    const auto T = transpose(view(A));
    const auto once = spgemm(cpu{.threads = 1}, view(A), view(T));
    for (const int threads : {2, 3, 7}) {
        expect_same(once, spgemm(cpu{.threads = threads}, view(A), view(T)));
        expect_same(T, transposed(cpu{.threads = threads}, view(A)));
    }
}

TYPED_TEST(products, of_galerkin_with_too_many_entries_are_given_up) {
    using V = TypeParam;
    const auto A = laplace2d<V>(60, 50);
    const auto P = from_rule<V>(3000, 400, [](index i, index j, double) { return i % 400 == j; });
    const auto R = transposed(cpu{}, view(P));
    const auto AP = offset(spgemm(cpu{}, view(A), view(P)).val.size());
    const auto C = galerkin_product(cpu{}, view(R), view(A), view(P));
    const auto most = std::max(AP, offset(C.val.size()));
    for (const int threads : {1, 2, 5}) {
        const cpu on{.threads = threads};
        expect_same(galerkin_product(on, view(R), view(A), view(P), most), C);
        EXPECT_EQ(galerkin_product(on, view(R), view(A), view(P), most - 1).shape, (shape{0, 0}));
        EXPECT_EQ(galerkin_product(on, view(R), view(A), view(P), 0).shape, (shape{0, 0}));
    }
}

/// The most memory that this process has had so far [bytes].
std::size_t peak_bytes() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return std::size_t(usage.ru_maxrss) * 1024;
}

/// A thread's rows go to blocks of 10^6 entries; these are more before the block may change hands.
TYPED_TEST(products, of_long_rows_take_memory_in_proportion) {
    using V = TypeParam;
    constexpr index rows = 1100, cols = 1500;
    const auto all = [](index, index, double) { return true; };
    const auto A = from_rule<V>(rows, 2, all), B = from_rule<V>(2, cols, all);
    const std::size_t before = peak_bytes();
    const auto C = spgemm(cpu{.threads = 1}, view(A), view(B));
    EXPECT_LT(peak_bytes() - before, 12 * bytes(C));
    ASSERT_EQ(C.val.size(), std::size_t(rows) * cols);
    for (const index i : {0, 700, 1023, 1024, 1099})
        for (const index j : {0, 1, 1499})
            EXPECT_EQ(C.val[std::size_t(i) * cols + std::size_t(j)],
                      A.val[2 * std::size_t(i)] * B.val[std::size_t(j)] +
                          A.val[2 * std::size_t(i) + 1] * B.val[std::size_t(cols + j)]);
}

/// Which several threads find out at once. In a process of its own, whose addresses are limited;
/// the sanitizers reserve more of them for themselves than that limit, so that nothing would start.
TYPED_TEST(products, without_memory_throw) {
    using V = TypeParam;
#if defined(__has_feature)  // Clang's way to say so
    constexpr bool watched = __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    constexpr bool watched = true;
#else
    constexpr bool watched = false;
#endif
    if (watched) GTEST_SKIP() << "a sanitizer reserves more addresses than the test may leave";
    ::testing::GTEST_FLAG(death_test_style) = "threadsafe";
    const auto all = [](index, index, double) { return true; };
    const auto A = from_rule<V>(4000, 2, all), B = from_rule<V>(2, 40000, all);
    const auto multiply = [&] {
        const rlimit limit{std::size_t(1) << 29, std::size_t(1) << 29};  // of 1.3 or 1.9 GB
        setrlimit(RLIMIT_AS, &limit);
        try {
            (void)spgemm(cpu{.threads = 3}, view(A), view(B));
        } catch (const std::bad_alloc&) {
            _exit(0);
        }
        _exit(1);
    };
    EXPECT_EXIT(multiply(), ::testing::ExitedWithCode(0), "");
}

TYPED_TEST(products, of_shapes_that_do_not_fit_are_refused) {
    using V = TypeParam;
    const auto A = from_rule<V>(3, 4, [](index, index, double) { return true; });
    EXPECT_THROW(spgemm(cpu{}, view(A), view(A)), argument_error);
    EXPECT_THROW(pseudo_inverse(cpu{}, view(A)), argument_error);
}

/// A = M M^T + I of n rows.
template <class V>
csr<V, host> positive_definite(index n) {
    const auto M = from_rule<V>(n, n, [](index i, index j, double u) { return i == j || u > 0.8; });
    auto A = spgemm(cpu{}, view(M), view(transpose(view(M))));
    const auto A_view = view(A);
    for (std::size_t i = 0; i < std::size_t(n); ++i)
        for (auto k = std::size_t(A_view.row_ptr[i]); k < std::size_t(A_view.row_ptr[i + 1]); ++k)
            if (A.col_ind[k] == index(i)) A.val[k] += V(1);
    return A;
}

TYPED_TEST(products, with_the_inverse_are_the_identity) {
    using V = TypeParam;
    for (const index n : {1, 2, 50, 150}) {
        const auto A = positive_definite<V>(n);
        const auto X = pseudo_inverse(cpu{.threads = 2}, view(A));
        expect_same(X, transpose(view(X)));
        expect_same(X, pseudo_inverse(cpu{.threads = 1}, view(A)));
        const auto I = times(to_dense(A, false), to_dense(X, false), n, n, n);
        // Rounding X to V alone leaves |A| |X| u; the inversion, in double, far less.
        const auto size = times(to_dense(A, true), to_dense(X, true), n, n, n);
        const long double slack = n * static_cast<long double>(std::numeric_limits<V>::epsilon());
        for (std::size_t k = 0; k < I.size(); ++k)
            ASSERT_LE(std::abs(I[k] - (k % std::size_t(n + 1) == 0)), slack * size[k]) << n;
    }
}

/// Laplacians of paths, one after the other: constants on a path go to zero.
template <class V>
csr<V, host> paths(const std::vector<index>& lengths) {
    std::vector<index> row, col;
    host_vector<V> val;
    index first = 0;
    for (const index length : lengths) {
        for (index i = first; i + 1 < first + length; ++i)
            for (const auto& [a, b, v] : {std::tuple(i, i, 1), std::tuple(i + 1, i + 1, 1),
                                          std::tuple(i, i + 1, -1), std::tuple(i + 1, i, -1)})
                row.push_back(a), col.push_back(b), val.push_back(V(v));
        first += length;
    }
    return assemble<V>({first, first}, row, col, val);
}

/// The four properties of Moore and Penrose, of which symmetry makes two.
TYPED_TEST(products, with_the_pseudo_inverse_of_a_singular_matrix_are_projections) {
    using V = TypeParam;
    for (const auto& lengths : {std::vector<index>{3, 3}, {1}, {1, 1}, {300}, {5, 1, 40, 2}}) {
        const auto A = paths<V>(lengths);
        const index n = A.shape.rows;
        const auto X = pseudo_inverse(cpu{.threads = 2}, view(A));
        expect_same(X, transpose(view(X)));
        expect_same(X, pseudo_inverse(cpu{.threads = 1}, view(A)));
        const auto a = to_dense(A, false), x = to_dense(X, false);
        const auto AX = times(a, x, n, n, n);
        const auto size = times(to_dense(A, true), to_dense(X, true), n, n, n);
        const auto largest = *std::ranges::max_element(size);
        const long double slack =
            4 * n * largest * static_cast<long double>(std::numeric_limits<V>::epsilon());
        // A X is the identity less the mean over a path.
        for (std::size_t i = 0, first = 0, path = 0; i < std::size_t(n); ++i) {
            if (i == first + std::size_t(lengths[path])) first = i, ++path;
            const auto length = std::size_t(lengths[path]);
            for (std::size_t j = 0; j < std::size_t(n); ++j) {
                const bool together = j >= first && j < first + length;
                const long double wanted = (i == j) - (together ? 1.0L / lengths[path] : 0.0L);
                ASSERT_LE(std::abs(AX[i * std::size_t(n) + j] - wanted), slack) << n;
            }
        }
        const auto XAX = times(x, AX, n, n, n);
        for (std::size_t k = 0; k < x.size(); ++k)
            ASSERT_LE(std::abs(XAX[k] - x[k]), slack * n) << n;
    }
}

}  // namespace
}  // namespace nz::test
