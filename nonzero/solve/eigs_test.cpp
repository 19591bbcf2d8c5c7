// Eigenpairs against the closed form of Laplacians, multiple ones among them.
#include "nonzero/solve/eigs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/generate.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/amg.hpp"
#include "nonzero/solve/dense_eigen.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

using real_everywhere = ::testing::Types<on_backend<float, cpu>, on_backend<double, cpu>,
                                         on_backend<float, gpu>, on_backend<double, gpu>>;

/// All eigenvalues of laplace2d: sums of 4 sin^2(pi j / (2 n + 2)), ascending.
std::vector<double> laplace_eigenvalues(index nx, index ny) {
    const auto of = [](index j, index n) {
        const double s = std::sin(std::numbers::pi * j / (2 * n + 2));
        return 4 * s * s;
    };
    std::vector<double> all;
    for (index i = 1; i <= nx; ++i)
        for (index j = 1; j <= ny; ++j) all.push_back(of(i, nx) + of(j, ny));
    std::sort(all.begin(), all.end());
    return all;
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
