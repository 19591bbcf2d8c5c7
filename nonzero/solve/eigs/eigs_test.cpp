// Eigenpairs against the closed form of Laplacians, multiple ones among them.
#include "nonzero/solve/eigs/eigs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/eigs/dense.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
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

    eigs_options::result<value> find(const csr<value, host>& A, const eigs_options& o,
                                     std::span<const value> guess = {}) const {
        return eigs<value, backend>(this->on_, *this->operator_of(A), o, nullptr, guess);
    }
    static constexpr double epsilon = std::numeric_limits<value>::epsilon();
    static constexpr double tol = std::is_same_v<value, float> ? 1e-4 : 1e-9;
    // In single precision a vector counts as orthogonal with 10 units of rounding left.
    static constexpr double orthonormal = std::is_same_v<value, float> ? 100 * epsilon : 1e-12;
};
TYPED_TEST_SUITE(eigenpairs, real_everywhere);

/// Every symmetric matrix has an eigenvalue within the residual's norm of theta.
TYPED_TEST(eigenpairs, of_laplacians_are_the_closed_form) {
    using V = typename TypeParam::V;
    for (const auto& [nx, ny] :
         {std::pair<index, index>{40, 1}, {1, 1}, {3, 2}, {17, 12}, {14, 14}}) {
        const auto A = laplace2d<V>(nx, ny);
        const auto exact = laplace_eigenvalues(nx, ny);
        for (const eigs_options::ends which :
             {eigs_options::ends::smallest, eigs_options::ends::largest}) {
            const auto [values, vectors, report] =
                this->find(A, {.count = 5, .which = which, .tol = this->tol});
            EXPECT_TRUE(report.converged) << nx << " x " << ny << ": " << report.why;
            ASSERT_EQ(values.size(), std::min<std::size_t>(5, exact.size()));
            EXPECT_LE(report.norm, 8 * (1 + 100 * this->epsilon));
            for (std::size_t k = 0; k < values.size(); ++k) {
                const double expected =
                    which == eigs_options::ends::smallest ? exact[k] : exact[exact.size() - 1 - k];
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
        for (const eigs_options::ends which :
             {eigs_options::ends::smallest, eigs_options::ends::largest}) {
            std::sort(exact.begin(), exact.end());
            if (which == eigs_options::ends::largest) std::reverse(exact.begin(), exact.end());
            const double norm = std::max(std::abs(exact.front()), std::abs(exact.back()));
            const auto [values, vectors, report] =
                this->find(A, {.count = count, .which = which, .tol = this->tol});
            EXPECT_TRUE(report.converged) << what << ": " << report.why;
            ASSERT_EQ(values.size(), std::size_t(count));
            for (std::size_t k = 0; k < values.size(); ++k)
                EXPECT_NEAR(values[k], exact[k], norm * (this->tol + 100 * this->epsilon))
                    << what << ", " << k
                    << (which == eigs_options::ends::largest ? " largest" : "");
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
    std::vector<eigs_options::progress> seen;
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

/// A as a list of columns, whose spectrum a dense solver tells.
template <class V>
std::vector<double> dense_of(const csr<V, host>& A) {
    const auto n = std::size_t(A.shape.rows);
    std::vector<double> dense(n * n, 0);
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V v) {
        dense[std::size_t(i) * n + std::size_t(j)] += double(v);
    });
    return dense;
}

/// The edges of a complete graph between n and m nodes: eigenvalues +- sqrt(n m), and zeros.
template <class V>
csr<V, host> bipartite(index n, index m) {
    host_vector<index> row, col;
    for (index i = 0; i < n; ++i)
        for (index j = n; j < n + m; ++j)
            row.insert(row.end(), {i, j}), col.insert(col.end(), {j, i});
    return assemble<V>({n + m, n + m}, row, col, host_vector<V>(row.size(), V(1)));
}

/// The matrix u u^T - v v^T, of three nonzeros in each of u and v.
template <class V>
csr<V, host> of_rank_two(index n) {
    host_vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < 3; ++i)
        for (index j = 0; j < 3; ++j) {
            row.insert(row.end(), {i, n - 1 - i}), col.insert(col.end(), {j, n - 1 - j});
            val.insert(val.end(), {V(double(i + 1) * double(j + 1)), V(-2)});
        }
    return assemble<V>({n, n}, row, col, val);
}

/// The sum of u_k u_k^T, 2, -3, 4 ... times as much for each further one, of full rows.
template <class V>
csr<V, host> of_low_rank(index n, int rank, unsigned seed) {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    std::vector<double> dense(std::size_t(n) * std::size_t(n));
    for (int k = 0; k < rank; ++k) {
        std::vector<double> u(static_cast<std::size_t>(n));
        for (double& a : u) a = normal(random);
        for (std::size_t at = 0; at < dense.size(); ++at)
            dense[at] += (k % 2 == 0 ? k + 1 : -k - 1) * u[at / u.size()] * u[at % u.size()];
    }
    csr<V, host> A{{n, n}, {}, {}, {}};
    host_vector<offset> row_ptr;
    for (index i = 0; i <= n; ++i) row_ptr.push_back(i * n);
    A.row_ptr = row_ptr;
    for (std::size_t at = 0; at < dense.size(); ++at)
        A.col_ind.push_back(index(at % std::size_t(n))), A.val.push_back(V(dense[at]));
    return A;
}

/// Spectra in which both ends share an eigenvalue, or come near to it.
template <class V>
std::vector<std::pair<std::string, csr<V, host>>> shared_spectra() {
    std::vector<double> dense;
    std::vector<std::pair<std::string, csr<V, host>>> all{
        {"identity", diagonal_of<V>(std::vector<double>(100, 1))},
        {"minus identity", diagonal_of<V>(std::vector<double>(30, -1))},
        {"zero", csr<V, host>{{40, 40}, offset_vector(host_vector<offset>(41, 0)), {}, {}}},
        {"bipartite", bipartite<V>(7, 12)},
        {"rank two", of_rank_two<V>(60)},
        {"path", laplace2d<V>(40, 1)},
        {"cube", laplace3d<V>(4, 4, 4)},
        {"random", random_symmetric<V>(50, 7, dense)},
        {"one", diagonal_of<V>({3})},
        {"two", diagonal_of<V>({1, 1})},
    };
    for (const index n : {3, 5, 8, 13})
        all.emplace_back("random of " + std::to_string(n), random_symmetric<V>(n, 1, dense));
    for (const double step : {1e-6, 1e-12}) {  // far above and below tol
        std::vector<double> near;
        for (int k = 0; k < 70; ++k) near.push_back(1 + step * k);
        all.emplace_back(step > 1e-9 ? "apart" : "near", diagonal_of<V>(near));
    }
    std::vector<double> twice;
    for (int k = 0; k < 40; ++k) twice.push_back(k % 3 - 1);
    all.emplace_back("three values", diagonal_of<V>(twice));
    return all;
}

/// Of the ascending values the wanted ones, ascending.
std::vector<double> wanted_of(std::vector<double> values, eigs_options::ends which,
                              std::size_t count) {
    count = std::min(count, values.size());
    if (which == eigs_options::ends::both) {
        values.erase(values.begin() + std::ptrdiff_t(count / 2),
                     values.end() - std::ptrdiff_t(count - count / 2));
        return values;
    }
    if (which != eigs_options::ends::magnitude) {
        if (which == eigs_options::ends::largest) std::reverse(values.begin(), values.end());
        values.resize(count);
    } else {
        std::stable_sort(values.begin(), values.end(),
                         [](double a, double b) { return std::abs(a) > std::abs(b); });
        values.resize(count);
    }
    std::sort(values.begin(), values.end());
    return values;
}

/// The largest |v_a v_b - delta_ab| of the vectors.
template <class V>
double lack_of_orthonormality(const eigs_options::result<V>& found) {
    double most = 0;
    for (std::size_t a = 0; a < found.values.size(); ++a)
        for (std::size_t b = 0; b <= a; ++b) {
            double sum = 0;
            for (std::size_t i = 0; i < found.vector(a).size(); ++i)
                sum += double(found.vector(a)[i]) * double(found.vector(b)[i]);
            most = std::max(most, std::abs(sum - double(a == b)));
        }
    return most;
}

/// The largest |A v - w v| of the pairs, over `norm`, by the oracle's product.
template <class V>
double largest_residual(const csr<V, host>& A, const eigs_options::result<V>& found, double norm) {
    double most = 0;
    for (std::size_t k = 0; k < found.values.size(); ++k) {
        const auto v = found.vector(k);
        const auto Av = reference_product<V>(transposition::plain, V(1), view(A), v, V(0), {});
        long double r2 = 0;
        for (std::size_t i = 0; i < v.size(); ++i) {
            const long double r =
                std::real(Av.y[i]) - (long double)(found.values[k]) * (long double)(v[i]);
            r2 += r * r / ((long double)(norm) * (long double)(norm));
        }
        most = std::max(most, double(std::sqrt(r2)));
    }
    return most;
}

TYPED_TEST(eigenpairs, of_all_ends_are_orthonormal_and_those_of_a_dense_solver) {
    using V = typename TypeParam::V;
    for (const auto& [name, A] : shared_spectra<V>()) {
        const auto exact = dense_eigen(A.shape.rows, dense_of(A)).values;
        const double norm = std::max({std::abs(exact.front()), std::abs(exact.back()), 1e-300});
        for (const int count : {1, 2, 3, 6, 7, 11, 37, 50})
            for (const auto which : {eigs_options::ends::smallest, eigs_options::ends::largest,
                                     eigs_options::ends::magnitude, eigs_options::ends::both}) {
                const auto found =
                    this->find(A, {.count = count, .which = which, .tol = this->tol});
                const auto where =
                    name + ", " + std::to_string(count) + ", " + std::to_string(int(which));
                EXPECT_TRUE(found.report.converged) << where << ": " << found.report.why;
                const auto want = wanted_of(exact, which, std::size_t(count));
                auto got = found.values;
                std::sort(got.begin(), got.end());
                ASSERT_EQ(got.size(), want.size()) << where;
                EXPECT_LE(lack_of_orthonormality(found), this->orthonormal) << where;
                EXPECT_LE(largest_residual(A, found, norm), this->tol + 100 * this->epsilon)
                    << where;
                // Of w and -w either may be taken.
                const bool by_magnitude = which == eigs_options::ends::magnitude;
                const auto size = [&](double w) { return by_magnitude ? std::abs(w) : w; };
                std::vector<double> sizes, wanted;
                for (const double w : got) sizes.push_back(size(w));
                for (const double w : want) wanted.push_back(size(w));
                std::sort(sizes.begin(), sizes.end()), std::sort(wanted.begin(), wanted.end());
                for (std::size_t k = 0; k < got.size(); ++k)
                    EXPECT_NEAR(sizes[k], wanted[k], norm * (this->tol + 100 * this->epsilon))
                        << where << ", " << k;
            }
    }
}

TYPED_TEST(eigenpairs, of_low_rank_converge) {
    using V = typename TypeParam::V;
    for (index n = 8; n <= 10; ++n)
        for (int rank = 1; rank <= 5; ++rank)
            for (unsigned seed = 8; seed <= 14; ++seed) {
                const auto A = of_low_rank<V>(n, rank, seed);
                for (const int count : {2, 5})
                    for (const auto which :
                         {eigs_options::ends::smallest, eigs_options::ends::largest}) {
                        const auto found = this->find(A, {.count = count, .which = which});
                        EXPECT_TRUE(found.report.converged)
                            << n << ", " << rank << ", " << seed << ", " << count << ", "
                            << int(which) << ": " << found.report.why;
                    }
            }
}

TYPED_TEST(eigenpairs, of_both_ends_stop_where_the_caller_wants) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(30, 30);
    for (const auto which : {eigs_options::ends::magnitude, eigs_options::ends::both}) {
        std::vector<eigs_options::progress> seen;
        const auto all = this->find(
            A, {.count = 4, .which = which, .tol = this->tol, .monitor = [&](const auto& p) {
                    seen.push_back(p);
                    return true;
                }});
        ASSERT_TRUE(all.report.converged) << all.report.why;
        const int wanted = which == eigs_options::ends::both ? 4 : 8;
        for (std::size_t k = 0; k < seen.size(); ++k) {
            EXPECT_EQ(seen[k].wanted, wanted);
            EXPECT_LE(seen[k].products, all.report.products);
            EXPECT_GE(seen[k].products, seen[k == 0 ? 0 : k - 1].products);
        }
        EXPECT_EQ(seen.back().converged, wanted);
        std::size_t called = 0;
        const auto stopped = this->find(
            A, {.count = 4, .which = which, .tol = this->tol, .monitor = [&](const auto&) {
                    return ++called < 3;
                }});
        EXPECT_EQ(called, 3U);
        EXPECT_FALSE(stopped.report.converged);
        EXPECT_EQ(stopped.report.why, "stopped by the caller");
        EXPECT_LE(lack_of_orthonormality(stopped), this->orthonormal);
        const auto few = this->find(A, {.count = 4, .which = which, .max_products = 5});
        EXPECT_FALSE(few.report.converged);
        EXPECT_EQ(few.report.status, status::max_products);
        EXPECT_EQ(few.report.why, "max_products were spent");
        EXPECT_EQ(few.values.size(), 4U);
    }
}

/// 2^k A.
template <class V>
csr<V, host> times_power_of_2(csr<V, host> A, int k) {
    for (V& v : A.val) v = std::ldexp(v, k);
    return A;
}

/// The answers for 2^k A are 2^k times those for A, up to the products' rounding errors where A's
/// values are denormal.
TYPED_TEST(eigenpairs, are_those_of_every_scale) {
    using V = typename TypeParam::V;
    using limits = std::numeric_limits<V>;
    std::vector<double> dense;
    const std::vector<std::pair<std::string, csr<V, host>>> matrices{
        {"line", laplace2d<V>(2, 1)},
        {"square", laplace2d<V>(20, 20)},
        {"random", random_symmetric<V>(30, 5, dense)},
        {"rank two", of_rank_two<V>(60)}};
    std::vector<int> powers{
        limits::min_exponent,    limits::min_exponent + 20, -70, -31, 29, 31, 70,
        limits::max_exponent - 8};
    if (!std::is_same_v<V, float>)
        for (const int k : {-1000, -700, -563, -530, -301, -300, 299, 301, 530, 565, 700, 1000})
            powers.push_back(k);
    for (const auto& [name, A] : matrices)
        for (const auto which : {eigs_options::ends::smallest, eigs_options::ends::magnitude}) {
            const eigs_options o{.count = 3, .which = which, .tol = this->tol};
            const auto want = this->find(A, o);
            ASSERT_TRUE(want.report.converged) << name;
            for (const int k : powers) {
                const auto B = times_power_of_2(A, k);
                const auto got = this->find(B, o);
                const auto where = name + " by 2^" + std::to_string(k);
                EXPECT_TRUE(got.report.converged) << where << ": " << got.report.why;
                ASSERT_EQ(got.values.size(), want.values.size()) << where;
                const double within = std::ldexp(want.report.norm, k) * 2 * this->tol;
                for (std::size_t j = 0; j < got.values.size(); ++j) {
                    EXPECT_NEAR(got.values[j], std::ldexp(want.values[j], k), within) << where;
                    EXPECT_LE(got.report.residuals[j], this->tol) << where;
                }
                EXPECT_LE(largest_residual(B, got, std::ldexp(want.report.norm, k)),
                          this->tol + 100 * this->epsilon)
                    << where;
                EXPECT_EQ(got.report.norm > 0 && std::isfinite(got.report.norm), true) << where;
            }
        }
}

TYPED_TEST(eigenpairs, that_no_number_holds_are_not_claimed) {
    using V = typename TypeParam::V;
    if (std::is_same_v<V, float>) GTEST_SKIP() << "its eigenvalue is a double, which holds it";
    // 3 x 3 of the largest number: its largest eigenvalue is three times that.
    csr<V, host> A{{3, 3}, {0, 3, 6, 9}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {}};
    A.val = host_vector<V>(9, std::numeric_limits<V>::max());
    const auto found = this->find(A, {.count = 1, .which = eigs_options::ends::largest});
    EXPECT_FALSE(found.report.converged);
    EXPECT_EQ(found.report.status, status::overflow);
    EXPECT_EQ(found.report.why, "an eigenvalue is larger than the largest number");
    for (const double r : found.report.residuals) EXPECT_TRUE(std::isfinite(r)) << r;
}

TYPED_TEST(eigenpairs, of_every_scale_are_found_with_a_preconditioner) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const int most = std::numeric_limits<V>::max_exponent - 28;
    const auto A = laplace2d<V>(20, 20);
    const auto exact = laplace_eigenvalues(20, 20);
    for (const int k : {-most, 0, most}) {
        const auto scaled = times_power_of_2(A, k);
        const auto M = jacobi<V>(this->on_, view(scaled));
        const auto found = eigs<V, B>(this->on_, *this->operator_of(scaled),
                                      {.count = 3, .tol = this->tol}, M.get());
        EXPECT_TRUE(found.report.converged) << k << ": " << found.report.why;
        for (std::size_t j = 0; j < 3; ++j)
            EXPECT_NEAR(std::ldexp(found.values[j], -k), exact[j], 8 * this->tol) << k;
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
