// Eigenpairs against the closed form of Laplacians, multiple ones among them.
#include "nonzero/solve/eigs/eigs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/eigs/dense_eigen.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

using real_everywhere = ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                                         on_backend<float, gpu>, on_backend<double, gpu>>;

/// 4 sin^2(pi j / (2 n + 2)): an eigenvalue of the Laplacian on a line of n.
double line_eigenvalue(index j, index n) {
    const double s = std::sin(std::numbers::pi * j / (2 * n + 2));
    return 4 * s * s;
}

/// All eigenvalues of laplace2d or, where nz is more than 1, laplace3d: sums of a line's,
/// ascending.
std::vector<double> laplace_eigenvalues(index nx, index ny, index nz = 1) {
    std::vector<double> all;
    for (index i = 1; i <= nx; ++i)
        for (index j = 1; j <= ny; ++j)
            for (index k = 1; k <= nz; ++k)
                all.push_back(line_eigenvalue(i, nx) + line_eigenvalue(j, ny) +
                              (nz > 1 ? line_eigenvalue(k, nz) : 0));
    std::sort(all.begin(), all.end());
    return all;
}

/// A matrix of those values on its diagonal, in another order.
template <class V>
csr<V, host> diagonal_of(std::vector<double> values) {
    std::shuffle(values.begin(), values.end(), std::mt19937(1));
    const auto n = index(values.size());
    csr<V, host> A{{n, n}, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    for (index i = 0; i < n; ++i) {
        A.col_ind.push_back(i);
        A.val.push_back(V(values[std::size_t(i)]));
        row_ptr.push_back(i + 1);
    }
    A.row_ptr = row_ptr;
    return A;
}

/// A random symmetric matrix, dense enough to have no pattern.
template <class V>
csr<V, host> random_symmetric(index n, unsigned seed, std::vector<double>& dense) {
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    dense.assign(std::size_t(n) * std::size_t(n), 0);
    csr<V, host> A{{n, n}, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    const auto at = [&](index i, index j) -> double& {
        return dense[std::size_t(i) * std::size_t(n) + std::size_t(j)];
    };
    for (index i = 0; i < n; ++i)
        for (index j = 0; j <= i; ++j) at(i, j) = at(j, i) = uniform(random);
    for (index i = 0; i < n; ++i) {
        for (index j = 0; j < n; ++j) A.col_ind.push_back(j), A.val.push_back(V(at(i, j)));
        row_ptr.push_back(offset(A.val.size()));
    }
    A.row_ptr = row_ptr;
    return A;
}

template <class T>
class eigenpairs : public solver_test<T> {
  protected:
    using value = typename T::V;
    using backend = typename T::B;

    eigs_result<value> find(const csr<value, host>& A, const eigs_options& o,
                            std::span<const value> guess = {}) const {
        return eigs<value, backend>(this->on_, *this->operator_of(A), o, nullptr, guess);
    }
    static constexpr double epsilon = std::numeric_limits<value>::epsilon();
    static constexpr double tol = std::is_same_v<value, float> ? 1e-4 : 1e-9;
};
TYPED_TEST_SUITE(eigenpairs, real_everywhere);

/// Every symmetric matrix has an eigenvalue within the residual's norm of theta.
TYPED_TEST(eigenpairs, of_laplacians_are_the_closed_form) {
    using V = typename TypeParam::V;
    for (const auto& [nx, ny] :
         {std::pair<index, index>{40, 1}, {1, 1}, {3, 2}, {17, 12}, {14, 14}}) {
        const auto A = laplace2d<V>(nx, ny);
        const auto exact = laplace_eigenvalues(nx, ny);
        for (const spectrum_end which : {spectrum_end::smallest, spectrum_end::largest}) {
            const auto [values, vectors, report] =
                this->find(A, {.count = 5, .which = which, .tol = this->tol});
            EXPECT_TRUE(report.converged) << nx << " x " << ny << ": " << report.why;
            ASSERT_EQ(values.size(), std::min<std::size_t>(5, exact.size()));
            EXPECT_LE(report.norm, 8 * (1 + 100 * this->epsilon));
            for (std::size_t k = 0; k < values.size(); ++k) {
                const double expected =
                    which == spectrum_end::smallest ? exact[k] : exact[exact.size() - 1 - k];
                EXPECT_NEAR(values[k], expected, 8 * this->tol) << nx << " x " << ny << ", " << k;
                EXPECT_LE(report.residuals[k], this->tol);
            }
        }
    }
}

TYPED_TEST(eigenpairs, are_as_many_as_each_eigenvalue_has) {
    using V = typename TypeParam::V;
    const auto held = [&](const csr<V, host>& A, std::vector<double> exact, int count,
                          const std::string& what) {
        for (const spectrum_end which : {spectrum_end::smallest, spectrum_end::largest}) {
            std::sort(exact.begin(), exact.end());
            if (which == spectrum_end::largest) std::reverse(exact.begin(), exact.end());
            const double norm = std::max(std::abs(exact.front()), std::abs(exact.back()));
            const auto [values, vectors, report] =
                this->find(A, {.count = count, .which = which, .tol = this->tol});
            EXPECT_TRUE(report.converged) << what << ": " << report.why;
            ASSERT_EQ(values.size(), std::size_t(count));
            for (std::size_t k = 0; k < values.size(); ++k)
                EXPECT_NEAR(values[k], exact[k], norm * (this->tol + 100 * this->epsilon))
                    << what << ", " << k << (which == spectrum_end::largest ? " largest" : "");
        }
    };
    // Of a cube nearly all are triple or sixfold.
    held(laplace3d<V>(14, 14, 14), laplace_eigenvalues(14, 14, 14), 11, "cube");
    held(laplace2d<V>(40, 40), laplace_eigenvalues(40, 40), 9, "square");
    std::vector<double> sevenfold, at_the_ends;
    for (int k = 0; k < 7 * 150; ++k) sevenfold.push_back(std::sqrt(1.0 + k / 7));
    held(diagonal_of<V>(sevenfold), sevenfold, 16, "sevenfold");
    // Single ones far out, then more of one than are asked for.
    for (int k = 0; k < 900; ++k) at_the_ends.push_back(std::sin(double(k)));
    for (int k = 0; k < 12; ++k) at_the_ends.push_back(3), at_the_ends.push_back(-3);
    at_the_ends.push_back(4), at_the_ends.push_back(-4);
    held(diagonal_of<V>(at_the_ends), at_the_ends, 6, "twelvefold");
}

TYPED_TEST(eigenpairs, of_equal_components_come_once_for_each) {
    using V = typename TypeParam::V;
    constexpr index parts = 5;
    std::vector<double> dense, exact;
    (void)random_symmetric<double>(60, 3, dense);
    csr<V, host> A{{60 * parts, 60 * parts}, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    for (index p = 0; p < parts; ++p)
        for (index i = 0; i < 60; ++i) {
            for (index j = 0; j < 60; ++j) {
                A.col_ind.push_back(60 * p + j);
                A.val.push_back(V(dense[std::size_t(60 * i + j)]));
            }
            row_ptr.push_back(offset(A.val.size()));
        }
    A.row_ptr = row_ptr;
    for (const double v : dense_eigen(60, dense).values) exact.insert(exact.end(), parts, v);
    const double norm = std::max(-exact.front(), exact.back());
    const auto result = this->find(A, {.count = 12, .tol = this->tol});
    EXPECT_TRUE(result.report.converged) << result.report.why;
    ASSERT_EQ(result.values.size(), 12U);
    for (std::size_t k = 0; k < 12; ++k)
        EXPECT_NEAR(result.values[k], exact[k], norm * (this->tol + 100 * this->epsilon)) << k;
}

TYPED_TEST(eigenpairs, of_small_matrices_are_those_of_a_dense_solver) {
    using V = typename TypeParam::V;
    if (std::is_same_v<V, float>) GTEST_SKIP() << "the reference is in double";
    for (const index n : {1, 2, 3, 5, 8, 13, 24, 25, 26, 40, 77}) {
        std::vector<double> dense;
        const auto A = random_symmetric<V>(n, unsigned(n), dense);
        const auto exact = dense_eigen(n, dense).values;
        for (const int count : {1, 2, 6, 30, 50}) {
            const auto result = this->find(A, {.count = count, .tol = this->tol});
            EXPECT_TRUE(result.report.converged) << n << ", " << count << result.report.why;
            ASSERT_EQ(result.values.size(), std::size_t(std::min(n, count)));
            for (std::size_t k = 0; k < result.values.size(); ++k)
                EXPECT_NEAR(result.values[k], exact[k], double(n) * 2 * this->tol)
                    << n << ", " << count << ", " << k;
        }
        const auto narrow = this->find(A, {.count = 2, .tol = this->tol, .basis = 4});
        EXPECT_TRUE(narrow.report.converged) << n << narrow.report.why;
        EXPECT_NEAR(narrow.values[0], exact[0], double(n) * 2 * this->tol) << n;
    }
}

TYPED_TEST(eigenpairs, tell_how_the_search_stands) {
    using V = typename TypeParam::V;
    const auto A = laplace3d<V>(11, 11, 11);
    std::vector<eigs_progress> seen;
    const auto all = this->find(A, {.count = 4, .tol = this->tol, .monitor = [&](const auto& p) {
                                        seen.push_back(p);
                                        return true;
                                    }});
    ASSERT_FALSE(seen.empty());
    for (std::size_t k = 0; k < seen.size(); ++k) {
        EXPECT_EQ(seen[k].wanted, 4);
        EXPECT_GE(seen[k].converged, 0);
        EXPECT_LE(seen[k].converged, 4);
        EXPECT_GT(seen[k].products, k == 0 ? 0 : seen[k - 1].products - 1);
        EXPECT_LE(seen[k].products, all.report.products);
        EXPECT_TRUE(std::isfinite(seen[k].residual));
    }
    EXPECT_TRUE(seen.back().checks);  // for copies, which a cube has
    EXPECT_EQ(seen.back().converged, 4);
    for (const std::size_t calls : {1U, 2U, 7U}) {
        std::size_t called = 0;
        const auto stopped = this->find(
            A, {.count = 4, .tol = 0, .monitor = [&](const auto&) { return ++called < calls; }});
        EXPECT_EQ(called, calls);
        EXPECT_FALSE(stopped.report.converged);
        EXPECT_EQ(stopped.report.why, "stopped by the caller");
        EXPECT_EQ(stopped.values.size(), 4U);
    }
}

TYPED_TEST(eigenpairs, are_orthonormal_and_what_their_residuals_say) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(15, 15);
    const auto result = this->find(A, {.count = 8, .tol = this->tol});
    for (std::size_t a = 0; a < 8; ++a) {
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = 0;
            for (std::size_t i = 0; i < 225; ++i)
                sum += double(result.vector(a)[i]) * double(result.vector(b)[i]);
            EXPECT_NEAR(sum, a == b ? 1 : 0, 225 * this->epsilon) << a << ", " << b;
        }
        const auto Ax =
            reference_product<V>(transposition::plain, V(1), view(A), result.vector(a), V(0), {});
        long double r2 = 0;
        for (std::size_t i = 0; i < 225; ++i)
            r2 +=
                std::norm(Ax.y[i] - (long double)(result.values[a] * double(result.vector(a)[i])));
        EXPECT_LE(double(std::sqrt(r2)), this->tol * 8 + 225 * this->epsilon);
    }
}

TYPED_TEST(eigenpairs, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(30, 20);
    const auto first = this->find(A, {.count = 3, .tol = this->tol});
    const auto again = this->find(A, {.count = 3, .tol = this->tol});
    EXPECT_EQ(first.values, again.values);
    EXPECT_EQ(first.vectors, again.vectors);
    EXPECT_EQ(first.report.products, again.report.products);
}

TYPED_TEST(eigenpairs, are_found_faster_by_multigrid_and_at_once_from_themselves) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = laplace2d<V>(60, 60);
    const auto op = build(make_plan(A, this->on_), A);
    const amg<V, B> M(A, this->on_, {}, {}, op.get());
    const auto with = eigs<V, B>(this->on_, *op, {.count = 4, .tol = this->tol}, &M);
    EXPECT_TRUE(with.report.converged) << with.report.why;
    const auto without = this->find(A, {.count = 4, .tol = this->tol});
    EXPECT_LT(with.report.products, without.report.products / 2);
    const auto exact = laplace_eigenvalues(60, 60);
    for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(with.values[k], exact[k], 8 * this->tol);
    const auto again = this->find(A, {.count = 4, .tol = 2 * this->tol}, with.vectors);
    EXPECT_TRUE(again.report.converged);
    EXPECT_LE(again.report.products, 20);
}

TYPED_TEST(eigenpairs, of_the_identity_and_of_zero_are_found) {
    using V = typename TypeParam::V;
    const csr<V, host> zero{{5, 5}, {0, 0, 0, 0, 0, 0}, {}, {}};
    const auto none = this->find(zero, {.count = 2});
    EXPECT_TRUE(none.report.converged) << none.report.why;
    EXPECT_EQ(none.values, (std::vector<double>{0, 0}));
    const csr<V, host> ones{{3, 3}, {0, 1, 2, 3}, {0, 1, 2}, {V(1), V(1), V(1)}};
    const auto three = this->find(ones, {.count = 6, .tol = this->tol});
    ASSERT_EQ(three.values.size(), 3U);
    for (const double v : three.values) EXPECT_NEAR(v, 1, 10 * this->epsilon);
    const auto empty = this->find(csr<V, host>{{0, 0}, {0}, {}, {}}, {});
    EXPECT_TRUE(empty.report.converged);
    EXPECT_TRUE(empty.values.empty());
}

TYPED_TEST(eigenpairs, that_do_not_converge_are_values) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(40, 40);
    const auto few = this->find(A, {.count = 3, .tol = this->tol, .max_products = 30});
    EXPECT_FALSE(few.report.converged);
    EXPECT_EQ(few.report.why, "max_products were spent");
    EXPECT_EQ(few.values.size(), 3U);
    auto bad = laplace2d<V>(6, 6);
    bad.val[7] = std::numeric_limits<V>::quiet_NaN();
    EXPECT_FALSE(this->find(bad, {.count = 1}).report.converged);
}

TYPED_TEST(eigenpairs, cannot_be_asked_for_wrongly) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(4, 4);
    for (const eigs_options& o : {eigs_options{.count = 0},
                                  {.count = 51},
                                  {.tol = -1},
                                  {.max_products = -1},
                                  {.count = 6, .basis = 7},
                                  {.basis = 129}})
        EXPECT_THROW((void)this->find(A, o), argument_error);
    EXPECT_THROW((void)this->find(A, {}, host_vector<V>(17, V(1))), argument_error);
    const csr<V, host> wide{{1, 2}, {0, 1}, {1}, {V(1)}};
    EXPECT_THROW((void)this->find(wide, {}), argument_error);
}

TEST(dense_eigen, knows_a_two_by_two) {
    const auto [values, vectors] = dense_eigen(2, std::vector<double>{2, 1, 1, 2});
    EXPECT_NEAR(values[0], 1, 1e-15);
    EXPECT_NEAR(values[1], 3, 1e-15);
    EXPECT_NEAR(vectors[0] + vectors[1], 0, 1e-15);
}

}  // namespace
}  // namespace nz::test
