// Singular triplets: held against those of dense matrices, with every copy, and every way to end.
#include "nonzero/solve/least_squares/svds.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nonzero/dist/distributed.hpp"
#include "nonzero/gen/counter.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/solve/eigs/dense.hpp"
#include "test/files.hpp"
#include "test/solver_fixture.hpp"
#include "test/thread_ranks.hpp"

namespace nz::test {
namespace {

/// A random matrix with about `each` entries in a row; a third of the rows and columns are empty
/// where `gaps`.
template <class V>
csr<V, host> random_matrix(index rows, index cols, int each, bool gaps = false) {
    std::vector<index> row, col;
    host_vector<V> val;
    const counter random(3, 0);
    for (index i = 0; i < rows; ++i)
        for (int k = 0; k < each; ++k) {
            const auto at = std::uint64_t(i) * 64 + std::uint64_t(k);
            const index j = random.below(cols, 2 * at);
            if (gaps && (i % 3 == 1 || j % 3 == 2)) continue;
            row.push_back(i), col.push_back(j);
            val.push_back(V(2 * random.uniform(2 * at + 1) - 1));
        }
    return assemble<V>({rows, cols}, row, col, val);
}

/// The columns of A, one after the other.
template <class V>
std::vector<double> dense(const csr<V, host>& A) {
    std::vector<double> all(std::size_t(A.shape.rows) * std::size_t(A.shape.cols));
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k)
            all[std::size_t(A.col_ind[std::size_t(k)]) * std::size_t(A.shape.rows) +
                std::size_t(i)] += double(A.val[std::size_t(k)]);
    return all;
}

/// All singular values of a dense rows x cols matrix, which is padded to a square.
std::vector<double> values_of(index rows, index cols, const std::vector<double>& a) {
    const auto m = std::size_t(std::max(rows, cols));
    std::vector<double> square(m * m);
    for (std::size_t j = 0; j < std::size_t(cols); ++j)
        for (std::size_t i = 0; i < std::size_t(rows); ++i)
            square[j * m + i] = a[j * std::size_t(rows) + i];
    auto values = dense_svd(int(m), square).values;
    values.resize(std::size_t(std::min(rows, cols)));
    return values;
}

/// With the means of the columns taken off.
std::vector<double> centred(index rows, index cols, std::vector<double> a) {
    for (std::size_t j = 0; j < std::size_t(cols); ++j) {
        double mean = 0;
        for (std::size_t i = 0; i < std::size_t(rows); ++i)
            mean += a[j * std::size_t(rows) + i] / double(rows);
        for (std::size_t i = 0; i < std::size_t(rows); ++i) a[j * std::size_t(rows) + i] -= mean;
    }
    return a;
}

template <class V>
double dot(std::span<const V> x, std::span<const V> y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += double(x[i]) * double(y[i]);
    return sum;
}

using real_everywhere = ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                                         on_backend<float, gpu>, on_backend<double, gpu>>;

template <class T>
class triplets : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    static constexpr bool is_single = std::is_same_v<value, float>;
    static constexpr double tol = solve_options::default_tol<value>;

    [[nodiscard]] svds_options::result<value> find(const csr<value, host>& A, const svds_options& o,
                                                   std::span<const value> guess = {}) const {
        const auto op = build(make_plan(A, this->on_, {.transposed = true}), A);
        return svds<value, backend>(this->on_, *op, o, guess);
    }
    /// The result holds the `wanted` largest values of the dense matrix a, and their vectors.
    static void expect_right(index rows, index cols, const std::vector<double>& a,
                             const svds_options::result<value>& result, int wanted) {
        const auto all = values_of(rows, cols, a);
        EXPECT_TRUE(result.report.converged) << result.report.why;
        ASSERT_EQ(result.values.size(), std::size_t(wanted));
        const double norm = all.empty() ? 0 : all.front();
        for (std::size_t k = 0; k < result.values.size(); ++k) {
            EXPECT_NEAR(result.values[k], all[k], 2 * tol * norm) << k;
            const auto u = result.left_vector(k), v = result.right_vector(k);
            ASSERT_EQ(u.size(), std::size_t(rows));
            ASSERT_EQ(v.size(), std::size_t(cols));
            double r2 = 0, s2 = 0;
            std::vector<double> Av(u.size());
            for (std::size_t j = 0; j < v.size(); ++j) {
                double Au = 0;
                for (std::size_t i = 0; i < u.size(); ++i) {
                    Av[i] += a[j * u.size() + i] * double(v[j]);
                    Au += a[j * u.size() + i] * double(u[i]);
                }
                s2 += norm2(Au - result.values[k] * double(v[j]));
            }
            for (std::size_t i = 0; i < u.size(); ++i)
                r2 += norm2(Av[i] - result.values[k] * double(u[i]));
            EXPECT_LE(std::sqrt(std::max(r2, s2)), 2 * tol * norm) << k;
            EXPECT_LE(result.report.residuals[k], tol);
            for (std::size_t l = 0; l <= k; ++l) {
                const double grain = is_single ? 1e-5 : 1e-12;
                EXPECT_NEAR(dot(u, result.left_vector(l)), double(k == l), grain);
                EXPECT_NEAR(dot(v, result.right_vector(l)), double(k == l), grain);
            }
        }
    }
};
TYPED_TEST_SUITE(triplets, real_everywhere);

TYPED_TEST(triplets, are_found_for_every_shape) {
    using V = typename TypeParam::V;
    for (const auto& [rows, cols] : {std::pair<index, index>{300, 90}, {90, 300}, {150, 150}})
        for (const bool gaps : {false, true})
            for (const bool about_the_mean : {false, true}) {
                const auto A = random_matrix<V>(rows, cols, 5, gaps);
                const auto result = this->find(A, {.count = 8, .centred = about_the_mean});
                const auto a = dense(A);
                this->expect_right(rows, cols, about_the_mean ? centred(rows, cols, a) : a, result,
                                   8);
            }
}

/// Every value of a block that is there three times comes three times.
TYPED_TEST(triplets, come_as_often_as_they_are_there) {
    using V = typename TypeParam::V;
    const auto block = random_matrix<V>(120, 60, 4);
    std::vector<index> row, col;
    host_vector<V> val;
    for (index c = 0; c < 3; ++c)
        for (index i = 0; i < 120; ++i)
            for (auto k = block.row_ptr[std::size_t(i)]; k < block.row_ptr[std::size_t(i) + 1];
                 ++k) {
                row.push_back(c * 120 + i), col.push_back(c * 60 + block.col_ind[std::size_t(k)]);
                val.push_back(block.val[std::size_t(k)]);
            }
    const auto A = assemble<V>({360, 180}, row, col, val);
    for (const int count : {1, 3, 7, 12})
        this->expect_right(360, 180, dense(A), this->find(A, {.count = count}), count);
    std::vector<index> at(100);
    for (index i = 0; i < 100; ++i) at[std::size_t(i)] = i;
    const auto identity = assemble<V>({100, 100}, at, at, host_vector<V>(100, V(2)));
    this->expect_right(100, 100, dense(identity), this->find(identity, {.count = 5}), 5);
}

TYPED_TEST(triplets, are_all_of_them) {
    using V = typename TypeParam::V;
    for (const auto& [rows, cols] :
         {std::pair<index, index>{40, 20}, {20, 40}, {1, 5}, {5, 1}, {1, 1}, {3, 3}}) {
        const auto A = random_matrix<V>(rows, cols, 3);
        const int least = int(std::min(rows, cols));
        this->expect_right(rows, cols, dense(A), this->find(A, {.count = least}), least);
        this->expect_right(rows, cols, dense(A), this->find(A, {.count = least + 3}), least);
    }
    for (const auto& [rows, cols] : {std::pair<index, index>{0, 5}, {5, 0}, {0, 0}}) {
        const auto none = this->find(assemble<V>({rows, cols}, {}, {}, {}), {});
        EXPECT_TRUE(none.report.converged);
        EXPECT_TRUE(none.values.empty());
    }
}

/// Of rank 4, 1 and 0, where more are asked for: the others are zero.
TYPED_TEST(triplets, of_low_rank_have_zeros) {
    using V = typename TypeParam::V;
    for (const index rank : {4, 1, 0}) {
        std::vector<index> row, col;
        host_vector<V> val;
        for (index i = 0; i < 80; ++i)
            for (index j = 0; j < 50 && rank > 0; ++j) {
                row.push_back(i), col.push_back(j);
                val.push_back(V(real<V>((i % rank + 1) * (1 + j % rank) + (i % rank == j % rank))));
            }
        const auto A = assemble<V>({80, 50}, row, col, val);
        this->expect_right(80, 50, dense(A), this->find(A, {.count = 7}), 7);
    }
}

/// Values that fall by ten orders: none is lost to the square of the matrix.
TYPED_TEST(triplets, may_be_far_apart) {
    using V = typename TypeParam::V;
    std::vector<index> at(200);
    host_vector<V> val(200);
    for (index i = 0; i < 200; ++i) {
        at[std::size_t(i)] = i;
        val[std::size_t(i)] = V(std::pow(10.0, -double(i) / (this->is_single ? 8 : 4)));
    }
    const auto A = assemble<V>({200, 200}, at, at, val);
    const auto result = this->find(A, {.count = 30, .tol = this->is_single ? 1e-6 : 1e-14});
    ASSERT_EQ(result.values.size(), 30U);
    for (std::size_t k = 0; k < 30; ++k)
        EXPECT_NEAR(result.values[k], double(val[k]), this->is_single ? 1e-6 : 1e-14) << k;
}

TYPED_TEST(triplets, are_found_in_every_scale) {
    using V = typename TypeParam::V;
    const auto base = random_matrix<V>(120, 60, 4);
    const auto want = values_of(120, 60, dense(base));
    for (const int power :
         this->is_single ? std::vector{-80, 80} : std::vector{-900, -500, 500, 900}) {
        auto A = base;
        for (V& v : A.val) v = V(std::ldexp(v, power));
        const auto result = this->find(A, {.count = 4});
        EXPECT_TRUE(result.report.converged) << result.report.why;
        ASSERT_EQ(result.values.size(), 4U);
        for (std::size_t k = 0; k < 4; ++k)
            EXPECT_NEAR(std::ldexp(result.values[k], -power), want[k], 2 * this->tol * want[0]);
    }
}

TYPED_TEST(triplets, say_that_something_is_not_finite) {
    using V = typename TypeParam::V;
    for (const V bad : {std::numeric_limits<V>::quiet_NaN(), std::numeric_limits<V>::infinity()}) {
        auto A = random_matrix<V>(120, 60, 4);
        A.val[17] = bad;
        const auto result = this->find(A, {.count = 4});
        EXPECT_FALSE(result.report.converged);
        EXPECT_EQ(result.report.status, status::not_finite);
        EXPECT_TRUE(result.values.empty());
    }
}

TYPED_TEST(triplets, keep_the_best_where_they_are_stopped) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(900, 400, 5);
    const auto want = values_of(900, 400, dense(A));
    const auto spent = this->find(A, {.count = 5, .max_products = 15});
    EXPECT_EQ(spent.report.status, status::max_products);
    EXPECT_FALSE(spent.report.converged);
    int calls = 0;
    svds_options o{.count = 5};
    o.monitor = [&](const eigs_options::progress& p) {
        EXPECT_EQ(p.wanted, 5);
        EXPECT_GT(p.products, 0);
        return ++calls < 2;
    };
    const auto stopped = this->find(A, o);
    EXPECT_EQ(stopped.report.status, status::stopped_by_caller);
    EXPECT_EQ(calls, 2);
    for (const auto* result : {&spent, &stopped}) {
        ASSERT_EQ(result->values.size(), 5U);
        EXPECT_NEAR(result->values[0], want[0], 0.2 * want[0]);
        EXPECT_EQ(result->right.size(), 5U * 400U);
        EXPECT_GT(result->report.residuals[4], this->tol);
    }
    EXPECT_TRUE(this->find(A, {.max_products = 0}).values.empty());
}

TYPED_TEST(triplets, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(500, 200, 5);
    const auto one = this->find(A, {}), again = this->find(A, {});
    EXPECT_EQ(one.values, again.values);
    EXPECT_TRUE(same_bits<V>(one.left, again.left));
    EXPECT_TRUE(same_bits<V>(one.right, again.right));
}

/// A basis of few vectors is restarted, and a guess spares products.
TYPED_TEST(triplets, take_a_small_basis_and_a_guess) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(500, 200, 5);
    const auto result = this->find(A, {.count = 4, .basis = 9});
    this->expect_right(500, 200, dense(A), result, 4);
    EXPECT_GT(result.report.restarts, 2);
    const auto v = result.right_vector(0);
    const auto guessed = this->find(A, {.count = 1}, v);
    this->expect_right(500, 200, dense(A), guessed, 1);
    EXPECT_LT(guessed.report.products, this->find(A, {.count = 1}).report.products);
}

TYPED_TEST(triplets, refuse) {
    using V = typename TypeParam::V;
    const auto A = random_matrix<V>(50, 20, 5);
    for (const svds_options& o :
         {svds_options{.count = 0}, svds_options{.count = -1}, svds_options{.tol = -1.0},
          svds_options{.tol = std::nan("")}, svds_options{.max_products = -1},
          svds_options{.count = 6, .basis = 7}})
        EXPECT_THROW((void)this->find(A, o), argument_error);
    const host_vector<V> guess(50);
    EXPECT_THROW((void)this->find(A, {}, guess), argument_error);
}

/// More than a GPU's basis holds.
TEST(triplets_of_many, are_found) {
    const auto A = random_matrix<double>(400, 300, 6);
    const auto op = build(make_plan(A, cpu{}, {.transposed = true}), A);
    for (const int count : {130, 300})
        triplets<on_backend<double, cpu>>::expect_right(
            400, 300, dense(A),
            svds<double, cpu>(cpu{}, *op, {.count = count, .basis = count == 130 ? 200 : 0}),
            count);
}

TEST(triplets_over_ranks, are_those_of_one_process) {
    for (const auto& [rows, cols] : {std::pair<index, index>{300, 90}, {90, 300}}) {
        const auto A = random_matrix<double>(rows, cols, 5);
        const auto want = values_of(rows, cols, dense(A));
        for (const int size : {2, 5})
            on_ranks(size, [&, rows = rows, cols = cols](const communicator& ranks) {
                const cpu on{.threads = 1, .ranks = &ranks};
                const distributed<double, cpu> op(on, slice_of(ranks, view(A)));
                const auto own = svds<double, cpu>(on, op, {.count = 5});
                EXPECT_TRUE(own.report.converged) << own.report.why;
                ASSERT_EQ(own.values.size(), 5U);
                for (std::size_t k = 0; k < 5; ++k)
                    EXPECT_NEAR(own.values[k], want[k], 1e-8 * want[0]);
                const auto v = joined<double>(ranks, own.right_vector(0));
                const auto u = joined<double>(ranks, own.left_vector(0));
                if (ranks.rank() != 0) return;
                EXPECT_NEAR(dot<double>(v, v), 1, 1e-12);
                EXPECT_NEAR(dot<double>(u, u), 1, 1e-12);
            });
    }
}

}  // namespace
}  // namespace nz::test
