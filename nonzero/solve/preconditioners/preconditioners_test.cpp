// Jacobi, block Jacobi, Gauss-Seidel: what they compute, what they refuse, and that they help.
#include "nonzero/io/io.hpp"
#include "nonzero/matrix/build.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/symmetry.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/preconditioners/colouring.hpp"
#include "nonzero/solve/preconditioners/gauss_seidel.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using preconditioners = solver_test<T>;
TYPED_TEST_SUITE(preconditioners, everywhere);

/// M x, on the backend and back.
template <class T, class V>
host_vector<V> applied(const solver_test<T>& on, const linear_operator<V, typename T::B>& M,
                       const host_vector<V>& x) {
    auto y = on.to_backend(host_vector<V>(x.size(), std::numeric_limits<real<V>>::quiet_NaN()));
    M.apply(V(1), on.to_backend(x), V(0), y);
    return on.here(y);
}

template <class V>
double distance(const host_vector<V>& a, const host_vector<V>& b) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += norm2(a[i] - b[i]), size += norm2(b[i]);
    return std::sqrt(sum / (size > 0 ? size : 1));
}
/// Some dozen operations on numbers of one size, relative.
template <class V>
constexpr double close = 100 * double(std::numeric_limits<real<V>>::epsilon());

TYPED_TEST(preconditioners, jacobi_divides_by_the_diagonal) {
    using V = typename TypeParam::V;
    const auto A = circuit<V>(300, 3, 2, 1);
    const auto d = diagonal_of(view(A));
    auto x = random_vector<V>(300, 1);
    const auto got = applied(*this, *jacobi(this->on_, view(A)), x);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] /= d[i];
    EXPECT_LE(distance(got, x), close<V>);
}

TYPED_TEST(preconditioners, one_operator_scales_and_adds_like_any_other) {
    using V = typename TypeParam::V;
    const auto A = circuit<V>(300, 3, 2, 1);
    const auto M = jacobi(this->on_, view(A));
    const auto x = random_vector<V>(300, 1), y0 = random_vector<V>(300, 2);
    const auto Mx = applied(*this, *M, x);
    auto y = this->to_backend(y0);
    M->apply(V(2), this->to_backend(x), V(-3), y);
    auto want = y0;
    for (std::size_t i = 0; i < x.size(); ++i) want[i] = V(2) * Mx[i] - V(3) * y0[i];
    EXPECT_LE(distance(this->here(y), want), close<V>);
    M->apply(V(0), this->to_backend(x), V(0), y);
    EXPECT_EQ(this->here(y), host_vector<V>(300, V(0)));
}

/// With the whole matrix as one block there is nothing left to iterate.
TYPED_TEST(preconditioners, block_jacobi_inverts_its_blocks) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(7, 8));
    const auto x = random_vector<V>(56, 1);
    const auto Ax = applied(*this, *this->operator_of(A), x);
    EXPECT_LE(distance(applied(*this, *block_jacobi(this->on_, view(A), 56), Ax), x),
              100 * close<V>);
    // Blocks of one row are Jacobi; 56 rows leave a smaller last block of 5.
    EXPECT_LE(distance(applied(*this, *block_jacobi(this->on_, view(A), 1), x),
                       applied(*this, *jacobi(this->on_, view(A)), x)),
              close<V>);
    EXPECT_NO_THROW((void)block_jacobi(this->on_, view(A), 5));
}

/// Against the definition: (D + L) D^-1 (D + U) y = x in the order of the colours.
TYPED_TEST(preconditioners, gauss_seidel_solves_its_triangles) {
    using V = typename TypeParam::V;
    const auto A = rotated(circuit<V>(200, 3, 2, 1));
    const auto y = random_vector<V>(200, 1);
    const colouring c = colour(view(A));
    host_vector<index> place(200);
    for (std::size_t k = 0; k < 200; ++k) place[std::size_t(c.order[k])] = index(k);
    const auto d = diagonal_of(view(A));
    // x = (D + L) D^-1 (D + U) y
    host_vector<V> upper(200, V(0)), x(200, V(0));
    const auto add = [&](host_vector<V>& to, const host_vector<V>& from, bool lower) {
        for_each_entry(view(A), 0, 200, [&](index i, index j, V v) {
            const auto pi = place[std::size_t(i)], pj = place[std::size_t(j)];
            if (i == j || (pj < pi) == lower) to[std::size_t(i)] += v * from[std::size_t(j)];
        });
    };
    add(upper, y, false);
    for (std::size_t i = 0; i < 200; ++i) upper[i] /= d[i];
    add(x, upper, true);
    EXPECT_LE(distance(applied(*this, *gauss_seidel(this->on_, view(A)), x), y), 10 * close<V>);
}

TYPED_TEST(preconditioners, each_spares_iterations) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    // Unknowns of a node belong together, and nodes weigh differently.
    auto A = elasticity3d<V>(5, 4, 4, 0.3);
    const auto weight = [](index i) { return real<V>(1 + i / 3 % 4); };
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] *= weight(i) * weight(A.col_ind[k]);
    const auto s = manufactured<V>("", rotated(A));
    const auto op = this->operator_of(s.A);
    const auto b = this->to_backend(s.b);
    const auto iterations = [&](const linear_operator<V, B>* M) {
        auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
        const auto report = M == nullptr ? cg<V, B>(this->on_, *op, b, x, {.tol = this->tol})
                                         : cg<V, B>(this->on_, *op, *M, b, x, {.tol = this->tol});
        EXPECT_TRUE(report.converged) << report.why;
        const auto r = residual_of(s.A, this->here(x), s.b);
        EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
        return report.iterations;
    };
    const auto none = iterations(nullptr);
    const auto diagonal = iterations(jacobi(this->on_, view(s.A)).get());
    const auto blocks = iterations(block_jacobi(this->on_, view(s.A), 3).get());
    const auto sweeps = iterations(gauss_seidel(this->on_, view(s.A)).get());
    EXPECT_LT(diagonal, none);
    EXPECT_LE(blocks, diagonal);
    EXPECT_LT(sweeps, blocks);
}

TYPED_TEST(preconditioners, refuse_a_zero_on_the_diagonal_and_say_where) {
    using V = typename TypeParam::V;
    auto A = laplace2d<V>(4, 4);
    for (auto k = std::size_t(A.row_ptr[5]); k < std::size_t(A.row_ptr[6]); ++k)
        if (A.col_ind[k] == 5) A.val[k] = V(0);
    const auto why = [](auto f) -> std::string {
        try {
            f();
        } catch (const argument_error& e) {
            return e.what();
        }
        return "no complaint";
    };
    EXPECT_NE(why([&] { (void)jacobi(this->on_, view(A)); }).find("row 5 "), std::string::npos);
    EXPECT_NE(why([&] { (void)gauss_seidel(this->on_, view(A)); }).find("row 5 "),
              std::string::npos);
    const auto none = csr<V, host>{{6, 6}, {0, 0, 0, 0, 0, 0, 0}, {}, {}};
    EXPECT_NE(why([&] { (void)jacobi(this->on_, view(none)); }).find("row 0 "), std::string::npos);
    EXPECT_NE(why([&] { (void)block_jacobi(this->on_, view(none), 4); }).find("row "),
              std::string::npos);
    const auto wide = random<V>(3, 4, 2, 1);
    EXPECT_NE(why([&] { (void)jacobi(this->on_, view(wide)); }).find("3 x 4"), std::string::npos);
    EXPECT_NE(why([&] { (void)block_jacobi(this->on_, view(wide), 2); }).find("3 x 4"),
              std::string::npos);
    EXPECT_NE(why([&] { (void)gauss_seidel(this->on_, view(wide)); }).find("3 x 4"),
              std::string::npos);
    EXPECT_THROW((void)block_jacobi(this->on_, view(A), 0), argument_error);
}

TEST(colours, no_neighbours_share_one) {
    for (const auto& entry : zoo<double>()) {
        const auto& A = entry.A;
        if (A.shape.rows != A.shape.cols) continue;
        const colouring c = colour(view(A));
        std::vector<index> of(std::size_t(A.shape.rows), -1);
        for (index k = 0; k < c.colours; ++k)
            for (auto at = c.first[std::size_t(k)]; at < c.first[std::size_t(k) + 1]; ++at)
                of[std::size_t(c.order[std::size_t(at)])] = k;
        for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double) {
            EXPECT_TRUE(i == j || of[std::size_t(i)] != of[std::size_t(j)]) << entry.name;
        });
        for (const index k : of) EXPECT_GE(k, 0) << entry.name;
    }
    EXPECT_EQ(colour(view(laplace3d<double>(5, 6, 7))).colours, 2);
    EXPECT_EQ(colour(view(csr<double, host>{{0, 0}, {0}, {}, {}})).colours, 0);
    EXPECT_THROW((void)colour(view(random<double>(3, 4, 2, 1))), argument_error);
}

TEST(definiteness, is_refuted_with_the_place) {
    EXPECT_EQ(why_not_definite(view(laplace2d<double>(9, 9))), "");
    EXPECT_EQ(why_not_definite(view(rotated(laplace2d<std::complex<double>>(9, 9)))), "");
    EXPECT_EQ(why_not_definite(view(elasticity3d<float>(3, 3, 3, 0.3))), "");
    auto A = laplace2d<double>(3, 3);
    A.val[1] = -2;
    EXPECT_EQ(why_not_definite(view(A)),
              "A is not symmetric: row 0, column 1 has -2, and row 1, column 0 has -1");
    A = laplace2d<double>(3, 3);
    A.val[0] = -4;
    EXPECT_EQ(why_not_definite(view(A)), "A is not positive definite: its diagonal is -4 in row 0");
    EXPECT_EQ(why_not_definite(view(random<double>(3, 4, 2, 1))), "A is 3 x 4, not square");
    EXPECT_NE(
        why_not_definite(view(convected(laplace2d<std::complex<double>>(3, 3)))).find("hermitian"),
        std::string::npos);
}

/// The file has -6 on the diagonal.
TEST(preconditioners_on_files, solve_lap3d_40) {
    auto A = read<double>(NZ_SOURCE_DIR "/matrices/lap3d_40.mtx.gz");
    EXPECT_EQ(why_not_definite(view(A)), "A is not positive definite: its diagonal is -6 in row 0");
    for (double& v : A.val) v = -v;
    ASSERT_EQ(why_not_definite(view(A)), "");
    const auto s = manufactured<double>("", A);
    const auto op = build(find_method<double>("csr.merge"), cpu{}, view(s.A));
    const auto M = gauss_seidel(cpu{}, view(s.A));
    host_vector<double> x(s.b.size(), 0.0);
    const auto report = cg<double, cpu>(cpu{}, *op, *M, s.b, x, {.tol = 1e-10});
    EXPECT_TRUE(report.converged) << report.why;
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 1e-10 * double(r.rhs) + r.rounding);
}

}  // namespace
}  // namespace nz::test
