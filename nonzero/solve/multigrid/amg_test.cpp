// Multigrid: a symmetric positive definite preconditioner whose iterations do not grow.
#include "nonzero/solve/multigrid/amg.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nonzero/formats/oracle.hpp"
#include "nonzero/gen/problems.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/chebyshev.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/solve/preconditioners/mixed_precision.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

template <class V>
V dot(const host_vector<V>& x, const host_vector<V>& y) {
    V sum(0);
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

template <class T>
class multigrid : public ::testing::Test {
  protected:
    void SetUp() override {
        if constexpr (std::is_same_v<T, gpu>)
            if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
    }
    T on{};
    template <class V>
    host_vector<V> apply(const linear_operator<V, T>& M, const host_vector<V>& x, V alpha = V(1),
                         V beta = V(0), const host_vector<V>& y = {}) {
        const auto x_on_device = from_host(on, std::span<const V>(x));
        auto y_on_device = from_host(on, std::span<const V>(y.empty() ? x : y));
        M.apply(alpha, x_on_device, beta, y_on_device);
        return to_host<V>(on, in<V, T>(y_on_device));
    }
    /// Conjugate gradients for b = A x with a random x: iterations, after checking the residual.
    int iterations(const csr<double, host>& A, const linear_operator<double, T>& M,
                   double tol = 1e-8) {
        const auto op = build(make_plan(A, on), A);
        const auto n = std::size_t(A.shape.rows);
        const auto b = apply(*op, random_vector<double>(n, 5));
        const auto b_on_device = from_host(on, std::span<const double>(b));
        auto x = from_host(on, std::span<const double>(host_vector<double>(n, 0.0)));
        const auto report =
            cg<double, T>(on, *op, M, b_on_device, x, {.tol = tol, .max_iter = 300});
        EXPECT_TRUE(report.converged);
        expect_solved(A, to_host<double>(on, in<double, T>(x)), b, tol);
        return int(report.iterations);
    }
    /// Cycles in single precision against those in double.
    void expect_no_more_iterations(const csr<double, host>& A, amg_options o,
                                   const candidates<double>& near = {}) {
        o.keep = false;  // what other values need stays exact
        const amg<double, T> exact(A, on, o, near);
        o.precision = value_storage::single;
        const amg<double, T> single(A, on, o, near);
        ASSERT_GT(exact.report().levels.size(), 1U);
        EXPECT_LT(single.bytes(), exact.bytes());
        EXPECT_LE(iterations(A, single), iterations(A, exact));
        const auto x = random_vector<double>(std::size_t(A.shape.rows), 1);
        const auto got = apply(single, x), want = apply(exact, x);
        EXPECT_NE(got, want);
        double apart2 = 0;
        for (std::size_t i = 0; i < x.size(); ++i) apart2 += std::pow(got[i] - want[i], 2);
        EXPECT_LE(std::sqrt(apart2), 1e-4 * std::sqrt(dot(want, want)));
    }
    /// |b - A x| <= tol |b|, but for the rounding of the residual that the solver computed: its
    /// product's, by the oracle's bound, and that of two sums of n squares.
    static void expect_solved(const csr<double, host>& A, const host_vector<double>& x,
                              const host_vector<double>& b, double tol) {
        const auto exact = reference_product<double>(transposition::plain, -1, view(A), x, 1, b);
        long double residual2 = 0, rounding2 = 0, b2 = 0;
        for (std::size_t i = 0; i < b.size(); ++i) {
            residual2 += std::norm(exact.y[i]);
            rounding2 += exact.bound[i].real() * exact.bound[i].real();
            b2 += static_cast<long double>(b[i]) * b[i];
        }
        const long double sums =
            1 + static_cast<long double>(b.size() + 8) * std::numeric_limits<double>::epsilon();
        EXPECT_LE(std::sqrt(residual2), sums * tol * std::sqrt(b2) + std::sqrt(rounding2));
    }
};
using backends = ::testing::Types<cpu, gpu>;
TYPED_TEST_SUITE(multigrid, backends);

std::vector<amg_options> every_cycle() {
    std::vector<amg_options> all;
    for (const auto cycle : {amg_options::cycles::v, amg_options::cycles::w})
        for (const auto smoother :
             {amg_options::smoothers::chebyshev, amg_options::smoothers::l1_jacobi})
            for (const int sweeps : {1, 2})
                all.push_back(
                    {.cycle = cycle, .smoother = smoother, .sweeps = sweeps, .coarse_rows = 20});
    return all;
}

TYPED_TEST(multigrid, cycle_is_symmetric_positive_definite) {
    const auto A = laplace3d<double>(9, 9, 9);
    const std::size_t n = 729;
    for (const amg_options& o : every_cycle()) {
        const amg<double, TypeParam> M(A, this->on, o);
        ASSERT_GE(M.report().levels.size(), 3U);
        for (unsigned seed = 1; seed < 6; ++seed) {
            const auto x = random_vector<double>(n, seed), y = random_vector<double>(n, seed + 50);
            const auto Mx = this->apply(M, x), My = this->apply(M, y);
            EXPECT_NEAR(dot(x, My), dot(y, Mx), 1e-12 * std::sqrt(dot(x, x) * dot(My, My)));
            EXPECT_GT(dot(x, Mx), 0);
        }
        const auto op = build(make_plan(A, this->on), A);
        const double factor = convergence_factor<double, TypeParam>(this->on, *op, M);
        EXPECT_GT(factor, 0.01);
        EXPECT_LT(factor, 0.8);
    }
}

TYPED_TEST(multigrid, iterations_hardly_grow_with_the_size) {
    int before = 12;
    for (const index n : {16, 32, 64}) {
        const auto A = laplace3d<double>(n, n, n);
        const int now = this->iterations(A, amg<double, TypeParam>(A, this->on));
        EXPECT_LT(now, 15);
        EXPECT_LE(now, before + 2);
        before = now;
    }
}

TYPED_TEST(multigrid, aggregates_over_two_steps_where_that_suits) {
    const auto rows = [&](const csr<double, host>& A, int distance) {
        return amg<double, TypeParam>(A, this->on, {.aggregation_distance = distance})
            .report()
            .levels[1]
            .rows;
    };
    const auto space = laplace3d<double>(24, 24, 24), plane = laplace2d<double>(120, 120);
    EXPECT_EQ(rows(space, 0), rows(space, 2));
    EXPECT_LT(2 * rows(space, 2), rows(space, 1));
    EXPECT_EQ(rows(plane, 0), rows(plane, 1));
    EXPECT_LT(rows(plane, 2), rows(plane, 1));
    const amg<double, TypeParam> M(plane, this->on, {.aggregation_distance = 2});
    EXPECT_LT(this->iterations(plane, M), 25);
}

/// The Laplacian of a random graph, three links a node, and a thousandth of the identity.
csr<double, host> random_laplacian(index n) {
    const auto links = random<double>(n, n, 3, 1);
    host_vector<index> row, col;
    host_vector<double> val;
    const auto add = [&](index i, index j, double v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
    };
    for_each_entry(view(links), 0, n, [&](index i, index j, double) {
        if (i != j) add(i, j, -1), add(j, i, -1), add(i, i, 1), add(j, j, 1);
    });
    for (index i = 0; i < n; ++i) add(i, i, 1e-3);
    return assemble<double>({n, n}, row, col, val);
}

/// A graph whose coarser levels would have more entries than it has.
TYPED_TEST(multigrid, of_a_graph_without_places_stays_small) {
    const auto A = random_laplacian(20000);
    for (const int distance : {1, 2}) {
        const amg<double, TypeParam> M(A, this->on, {.aggregation_distance = distance});
        EXPECT_LE(M.report().operator_complexity(), 5);
        EXPECT_LT(this->iterations(A, M), 25);
    }
}

TYPED_TEST(multigrid, solves_elasticity_with_its_six_modes) {
    const auto A = elasticity3d<double>(14, 12, 10, 0.3);
    const auto modes = rigid_body_modes<double>(elasticity3d_nodes(14, 12, 10));
    const amg<double, TypeParam> M(A, this->on, {.strength = 0, .block = 3}, modes);
    const amg<double, TypeParam> without(A, this->on, {.strength = 0, .block = 3});
    const int with_modes = this->iterations(A, M);
    EXPECT_LT(with_modes, 25);
    EXPECT_LT(with_modes, this->iterations(A, without));
}

TYPED_TEST(multigrid, finds_the_unknowns_of_a_node) {
    const auto A = elasticity3d<double>(14, 12, 10, 0.3);
    const amg<double, TypeParam> found(A, this->on, {.block = 0}), told(A, this->on, {.block = 3});
    EXPECT_EQ(found.report().block, 3);
    const auto x = random_vector<double>(std::size_t(A.shape.rows), 1);
    EXPECT_EQ(this->apply(found, x), this->apply(told, x));
    const amg<double, TypeParam> apart(A, this->on, {.block = 1});
    EXPECT_LT(this->iterations(A, found), this->iterations(A, apart));
    const auto L = laplace2d<double>(40, 40);
    EXPECT_EQ((amg<double, TypeParam>(L, this->on, {.block = 0}).report().block), 1);
}

TYPED_TEST(multigrid, finds_candidates_by_relaxation) {
    const auto A = elasticity3d<double>(14, 12, 10, 0.3);
    const amg_options o{.block = 3};
    auto adaptive = o;
    adaptive.adaptive_candidates = 3;
    const amg<double, TypeParam> M(A, this->on, adaptive);
    EXPECT_EQ(M.report().levels[1].rows % 6, 0);
    EXPECT_LT(this->iterations(A, M), this->iterations(A, amg<double, TypeParam>(A, this->on, o)));
    const auto x = random_vector<double>(std::size_t(A.shape.rows), 1);
    EXPECT_EQ(this->apply(M, x), this->apply(amg<double, TypeParam>(A, this->on, adaptive), x));
}

/// D A D with a D that is far from smooth: its constant is felt, D^-1 times it is not.
TYPED_TEST(multigrid, finds_what_scaling_made_of_the_constant) {
    auto A = laplace2d<double>(80, 80);
    const auto random = random_vector<double>(6400, 3);
    const auto d = [&](index i) { return std::pow(10, random[std::size_t(i)]); };
    for (index i = 0; i < 6400; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] *= d(i) * d(A.col_ind[k]);
    const amg<double, TypeParam> M(A, this->on, {.adaptive_candidates = 1});
    EXPECT_LT(this->iterations(A, M), this->iterations(A, amg<double, TypeParam>(A, this->on)));
}

/// Candidates are not looked for on a level that is solved directly.
TYPED_TEST(multigrid, finds_no_candidates_where_there_are_none) {
    const csr<double, host> none{{0, 0}, {0}, {}, {}};
    for (const auto& A : {none, laplace2d<double>(1, 1), laplace2d<double>(20, 20)}) {
        const amg<double, TypeParam> M(A, this->on, {.block = 0, .adaptive_candidates = 2});
        EXPECT_EQ(M.report().levels.size(), 1U);
    }
}

TYPED_TEST(multigrid, takes_real_matrices) {
    auto A = read<double>(NZ_SOURCE_DIR "/matrices/lap3d_40.mtx.gz");  // negative definite
    for (double& v : A.val) v = -v;
    EXPECT_LT(this->iterations(A, amg<double, TypeParam>(A, this->on)), 15);
    const auto stiff = read<double>(NZ_SOURCE_DIR "/matrices/bcsstk17.mtx.gz");
    const amg<double, TypeParam> M(stiff, this->on);
    EXPECT_GT(M.report().levels.size(), 1U);
}

using complex = std::complex<double>;

/// D^H A D, D diagonal of unit numbers that look random: hermitian, of A's spectrum.
template <class V>
csr<std::complex<V>, host> turned(const csr<V, host>& A) {
    csr<std::complex<V>, host> B{A.shape, A.row_ptr, A.col_ind, {A.val.begin(), A.val.end()}};
    const auto angle = random_vector<V>(std::size_t(A.shape.rows), 11);
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            B.val[k] *=
                std::polar(V(1), 3 * (angle[std::size_t(A.col_ind[k])] - angle[std::size_t(i)]));
    return B;
}

TYPED_TEST(multigrid, of_complex_values_is_hermitian_positive_definite) {
    const auto A = turned(laplace3d<double>(9, 9, 9));
    const auto inner = [](const host_vector<complex>& x, const host_vector<complex>& y) {
        complex sum(0);
        for (std::size_t i = 0; i < x.size(); ++i) sum += std::conj(x[i]) * y[i];
        return sum;
    };
    for (const amg_options& o : every_cycle()) {
        const amg<complex, TypeParam> M(A, this->on, o);
        ASSERT_GE(M.report().levels.size(), 3U);
        for (unsigned seed = 1; seed < 6; ++seed) {
            const auto x = random_vector<complex>(729, seed),
                       y = random_vector<complex>(729, seed + 50);
            const auto Mx = this->apply(M, x), My = this->apply(M, y);
            const double size = std::sqrt(inner(x, x).real() * inner(My, My).real());
            EXPECT_LE(std::abs(inner(x, My) - std::conj(inner(y, Mx))), 1e-12 * size);
            EXPECT_GT(inner(x, Mx).real(), 0);
            EXPECT_LE(std::abs(inner(x, Mx).imag()), 1e-12 * size);
        }
        const auto op = build(make_plan(A, this->on), A);
        EXPECT_LT((convergence_factor<complex, TypeParam>(this->on, *op, M)), 0.8);
    }
}

/// The number of iterations of a complex system on a CPU, after a look at the residual.
template <class V>
int complex_iterations(const csr<V, host>& A, const candidates<V>& near = {}, double tol = 1e-8) {
    const auto s = manufactured<V>("complex", A);
    const auto op = build(find_method<V>("csr.serial"), cpu{}, view(A));
    const amg<V, cpu> M(A, {}, {}, near, op.get());
    host_vector<V> x(s.b.size(), V(0));
    const auto report = cg<V, cpu>({}, *op, M, s.b, x, {.tol = tol, .max_iter = 300});
    EXPECT_TRUE(report.converged) << report.why;
    const auto r = residual_of<V>(A, x, s.b);
    EXPECT_LE(r.norm, 1.01 * tol * r.rhs + r.rounding);
    return int(report.iterations);
}

TEST(complex_multigrid, takes_two_iterations_more_than_the_real_problem_at_most) {
    for (const auto& A : {laplace2d<double>(120, 110), laplace3d<double>(24, 24, 24),
                          laplace27<double>(16, 16, 16), circuit<double>(20000, 5, 7, 3)}) {
        const int real_problem = complex_iterations(A);
        EXPECT_LE(complex_iterations(turned(A)), real_problem + 2);
        csr<complex, host> stored{A.shape, A.row_ptr, A.col_ind, {A.val.begin(), A.val.end()}};
        EXPECT_LE(complex_iterations(stored), real_problem + 2);
    }
    const int without_field = complex_iterations(laplace2d<double>(120, 120));
    for (const double flux : {1e-4, 1e-2, 0.3, 3.0})
        EXPECT_LE(complex_iterations(in_field(120, flux)), without_field + 2) << flux;
    const auto A = laplace3d<float>(20, 20, 20);
    EXPECT_LE(complex_iterations(turned(A), {}, 1e-4), complex_iterations(A, {}, 1e-4) + 2);
}

TEST(complex_multigrid, takes_the_candidate_that_is_given) {
    const auto A = in_field(100, 1e-2);
    EXPECT_LT(complex_iterations(A), 15);
    const candidates<complex> constant{1, host_vector<complex>(10000, complex(1))};
    EXPECT_GT(complex_iterations(A, constant), 25);  // which does not suit it
}

TEST(complex_multigrid, refuses_what_does_not_suit) {
    const auto said = [](const csr<complex, host>& A) -> std::string {
        try {
            const amg<complex, cpu> M(A, {});
        } catch (const argument_error& e) {
            return e.what();
        }
        return "nothing";
    };
    const auto contains = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    const auto A = turned(laplace2d<double>(30, 30));
    EXPECT_EQ(said(A), "nothing");
    auto wrong = A;
    wrong.val[1] = std::conj(wrong.val[1]);
    EXPECT_PRED2(contains, said(wrong), "the matrix is not hermitian in row 0");
    wrong = A, wrong.val[0] += complex(0, 1);
    EXPECT_PRED2(contains, said(wrong), "the matrix is not hermitian in row 0");
    wrong = A, wrong.val[0] = complex(0, 4);
    EXPECT_PRED2(contains, said(wrong), "its diagonal is 0 in row 0");
    wrong = A, wrong.val[0] = complex(4, std::numeric_limits<double>::quiet_NaN());
    EXPECT_PRED2(contains, said(wrong), "A is not finite: row 0, column 0");
    wrong = A, wrong.val[1] = complex(std::numeric_limits<double>::infinity(), 0);
    EXPECT_PRED2(contains, said(wrong), "A is not finite: row 0, column 1");
    for (auto k = 0U; k < 3; ++k) wrong.val[k] = 0;
    EXPECT_PRED2(contains, said(wrong), "its diagonal is 0 in row 0");
}

TYPED_TEST(multigrid, has_the_same_bits_in_every_run) {
    const auto A = laplace3d<double>(20, 20, 20);
    const auto x = random_vector<double>(8000, 3);
    const auto once = this->apply(amg<double, TypeParam>(A, this->on), x);
    for (int again = 0; again < 3; ++again) {
        const amg<double, TypeParam> M(A, this->on);
        EXPECT_EQ(this->apply(M, x), once);
        EXPECT_EQ(this->apply(M, x), once);
    }
    if constexpr (std::is_same_v<TypeParam, cpu>) {
        // The finest product is given: which method is planned depends on the threads.
        const auto op = build(find_method<double>("csr.serial"), cpu{}, view(A));
        const amg<double, cpu> alone(A, {.threads = 1}, {}, {}, op.get());
        for (const int threads : {2, 5})
            EXPECT_EQ(this->apply(amg<double, cpu>(A, {.threads = threads}, {}, {}, op.get()), x),
                      this->apply(alone, x));
    }
}

TYPED_TEST(multigrid, keeps_apply_s_contract) {
    const auto A = laplace2d<double>(40, 40);
    const amg<double, TypeParam> M(A, this->on, {.coarse_rows = 50});
    const auto x = random_vector<double>(1600, 1), y = random_vector<double>(1600, 2);
    const auto Mx = this->apply(M, x), got = this->apply(M, x, -2.5, 0.5, y);
    for (std::size_t i = 0; i < x.size(); ++i)
        EXPECT_NEAR(got[i], -2.5 * Mx[i] + 0.5 * y[i], 1e-14 * (std::abs(Mx[i]) + 1));
    const host_vector<double> nan(1600, std::numeric_limits<double>::quiet_NaN());
    EXPECT_EQ(this->apply(M, x, 1.0, 0.0, nan), Mx);
    EXPECT_EQ(this->apply(M, nan, 0.0, 1.0, y), y);
    EXPECT_THROW(this->apply(M, random_vector<double>(5, 1)), argument_error);
}

/// A plus a random diagonal, so that the values of no level fit a table.
csr<double, host> of_many_values(csr<double, host> A) {
    const auto more = random_vector<double>(std::size_t(A.shape.rows), 9);
    for (std::size_t i = 0; i < more.size(); ++i)
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            if (std::size_t(A.col_ind[k]) == i) A.val[k] += 0.1 * std::abs(more[i]);
    return A;
}

/// Of sizes that a GPU packs.
/// The vectors in that order, at a stride.
host_vector<double> laid_out(const std::vector<host_vector<double>>& all, storage_order order,
                             std::size_t stride) {
    const std::size_t n = all.front().size();
    const bool by_row = order == storage_order::row_major;
    host_vector<double> values(by_row ? n * stride : all.size() * stride, -7.0);
    for (std::size_t c = 0; c < all.size(); ++c)
        for (std::size_t i = 0; i < n; ++i)
            values[by_row ? i * stride + c : c * stride + i] = all[c][i];
    return values;
}

TYPED_TEST(multigrid, takes_several_vectors_as_it_takes_each) {
    const auto A = laplace3d<double>(9, 8, 7);
    const std::size_t n = 504;
    using enum storage_order;
    auto cycles = every_cycle();
    cycles.push_back({.coarse_rows = 20, .precision = value_storage::single});
    for (const amg_options& o : cycles) {
        const amg<double, TypeParam> M(A, this->on, o);
        const double close = o.precision == value_storage::single ? 1e-6 : 1e-14;
        for (const std::size_t count : {2U, 5U, 33U, 70U})
            for (const auto& [order, stride] :
                 {std::pair{row_major, count}, {row_major, count + 3}, {column_major, n + 1}}) {
                std::vector<host_vector<double>> x, y;
                for (unsigned c = 0; c < count; ++c)
                    x.push_back(random_vector<double>(n, c)),
                        y.push_back(random_vector<double>(n, c + 100));
                const auto X =
                    from_host(this->on, std::span<const double>(laid_out(x, order, stride)));
                auto Y = from_host(this->on, std::span<const double>(laid_out(y, order, stride)));
                const double alpha = stride == count ? 1 : -2, beta = stride == count ? 0 : 0.5;
                M.apply_many(alpha, {X, stride, index(count), order}, beta,
                             {Y, stride, index(count), order});
                const auto found = to_host<double>(this->on, in<double, TypeParam>(Y));
                const bool by_row = order == row_major;
                for (std::size_t c = 0; c < count; ++c) {
                    const auto one = this->apply(M, x[c], alpha, beta, y[c]);
                    double apart2 = 0;
                    for (std::size_t i = 0; i < n; ++i)
                        apart2 +=
                            std::pow(one[i] - found[by_row ? i * stride + c : c * stride + i], 2);
                    EXPECT_LE(std::sqrt(apart2), close * std::sqrt(dot(one, one))) << count;
                }
                for (std::size_t i = 0; i < n && by_row; ++i)  // the gaps stay as they are
                    for (std::size_t c = count; c < stride; ++c)
                        EXPECT_EQ(found[i * stride + c], -7);
            }
    }
}

TYPED_TEST(multigrid, in_single_precision_takes_no_more_iterations) {
    this->expect_no_more_iterations(of_many_values(laplace3d<double>(50, 50, 50)), {});
    this->expect_no_more_iterations(of_many_values(laplace2d<double>(300, 300)),
                                    {.cycle = amg_options::cycles::w});
    this->expect_no_more_iterations(elasticity3d<double>(20, 18, 16, 0.3),
                                    {.strength = 0, .block = 3},
                                    rigid_body_modes<double>(elasticity3d_nodes(20, 18, 16)));
}

TYPED_TEST(multigrid, refuses_single_precision_where_values_do_not_fit) {
    auto A = laplace2d<double>(30, 30);
    const amg_options single{.coarse_rows = 50, .precision = value_storage::single};
    EXPECT_THROW((amg<std::complex<double>, TypeParam>(laplace2d<std::complex<double>>(30, 30),
                                                       this->on, single)),
                 argument_error);
    for (double& v : A.val) v *= 1e39;
    EXPECT_THROW((amg<double, TypeParam>(A, this->on, single)), argument_error);
    EXPECT_NO_THROW((amg<double, TypeParam>(A, this->on, {.coarse_rows = 50})));
    auto packed = laplace3d<double>(20, 20, 20);  // of two levels, the second solved directly
    for (double& v : packed.val) v *= 1e39;
    EXPECT_THROW((amg<double, TypeParam>(packed, this->on, {.precision = value_storage::single})),
                 argument_error);
}

TYPED_TEST(multigrid, finds_candidates_by_cycles_in_single_precision) {
    amg_options o{.coarse_rows = 50, .adaptive_candidates = 2};
    const auto A = laplace2d<double>(40, 40);
    const int exact = this->iterations(A, amg<double, TypeParam>(A, this->on, o));
    o.precision = value_storage::single;
    EXPECT_LE(this->iterations(A, amg<double, TypeParam>(A, this->on, o)), exact + 1);
}

TYPED_TEST(multigrid, takes_floats) {
    const auto A = laplace3d<float>(20, 20, 20);
    const amg<float, TypeParam> M(A, this->on, {.coarse_rows = 100});
    const auto op = build(make_plan(A, this->on), A);
    const float factor = float(convergence_factor<float, TypeParam>(this->on, *op, M));
    EXPECT_LT(factor, 0.5F);
}

TYPED_TEST(multigrid, in_single_precision_serves_a_solver_in_double) {
    const auto A = laplace3d<double>(30, 30, 30);
    const mixed_precision_operator<TypeParam> M(
        this->on, std::make_unique<amg<float, TypeParam>>(rounded_to_single(cpu{}, view(A)).matrix,
                                                          this->on));
    const int wide = this->iterations(A, amg<double, TypeParam>(A, this->on), 1e-11);
    EXPECT_LE(this->iterations(A, M, 1e-11), wide + 1);
    auto large = laplace2d<double>(3, 3);
    large.val[0] = 1e40;
    EXPECT_THROW(rounded_to_single(cpu{}, view(large)), argument_error);
}

TYPED_TEST(multigrid, meets_degenerate_matrices) {
    const auto one = assemble<double>({1, 1}, std::vector<index>{0}, std::vector<index>{0},
                                      std::vector<double>{4});
    EXPECT_EQ(this->apply(amg<double, TypeParam>(one, this->on), host_vector<double>{8}),
              host_vector<double>{2});
    const csr<double, host> none{{0, 0}, {0}, {}, {}};
    EXPECT_TRUE(this->apply(amg<double, TypeParam>(none, this->on), host_vector<double>{}).empty());

    std::vector<index> i(3000);
    std::vector<double> d(3000);
    for (std::size_t k = 0; k < i.size(); ++k) i[k] = index(k), d[k] = double(k % 7 + 1);
    const auto diagonal = assemble<double>({3000, 3000}, i, i, d);
    const amg<double, TypeParam> D(diagonal, this->on);  // nothing to coarsen
    EXPECT_EQ(D.report().levels.size(), 1U);
    EXPECT_LT(this->iterations(diagonal, D), 5);
}

TYPED_TEST(multigrid, solves_unconnected_and_singular_problems) {
    // Two grids side by side, one of them without a boundary: constants on it go to zero.
    const auto L = laplace2d<double>(50, 50);
    std::vector<index> row, col;
    std::vector<double> val;
    for_each_entry(view(L), 0, 2500, [&](index i, index j, double v) {
        row.push_back(i), col.push_back(j), val.push_back(v);
        row.push_back(i + 2500), col.push_back(j + 2500), val.push_back(v);
        if (i != j) row.push_back(i + 2500), col.push_back(i + 2500), val.push_back(0.0);
    });
    std::vector<double> sum(2500, 0);
    for_each_entry(view(L), 0, 2500, [&](index i, index, double v) { sum[std::size_t(i)] += v; });
    for (index i = 0; i < 2500; ++i)
        row.push_back(i + 2500), col.push_back(i + 2500), val.push_back(-sum[std::size_t(i)]);
    const auto A = assemble<double>({5000, 5000}, row, col, val);
    const amg<double, TypeParam> M(A, this->on);
    EXPECT_LT(this->iterations(A, M), 25);
}

TYPED_TEST(multigrid, survives_candidates_that_depend) {
    const auto A = laplace2d<double>(60, 60);
    candidates<double> twice{2, host_vector<double>(7200, 1.0)};
    const amg<double, TypeParam> M(A, this->on, {.coarse_rows = 50}, twice);
    EXPECT_LT(this->iterations(A, M), 30);
}

TYPED_TEST(multigrid, refuses_what_does_not_suit) {
    using M = amg<double, TypeParam>;
    const auto said = [&](const csr<double, host>& A, const amg_options& o = {}) -> std::string {
        try {
            const M m(A, this->on, o);
        } catch (const argument_error& e) {
            return e.what();
        }
        return "nothing";
    };
    const auto contains = [](const std::string& text, const char* part) {
        return text.find(part) != std::string::npos;
    };
    auto A = laplace2d<double>(30, 30);
    EXPECT_PRED2(contains, said(from_rule<double>(4, 5, [](index, index, double) { return true; })),
                 "not square");
    EXPECT_PRED2(
        contains,
        said(from_rule<double>(40, 40, [](index i, index j, double) { return i != 7 && i == j; })),
        "not positive");
    EXPECT_PRED2(contains, said(A, {.block = 7}), "blocks of 7");
    EXPECT_PRED2(contains, said(A, {.degree = 0}), "degree");
    EXPECT_PRED2(contains, said(A, {.aggregation_distance = 3}), "aggregation_distance");
    EXPECT_PRED2(contains, said(A, {.eigenvalue_ratio = 0.5}), "eigenvalue_ratio");
    auto wrong = A;
    wrong.val[1] = -2;
    EXPECT_PRED2(contains, said(wrong), "not symmetric");
    for (const auto& [above, below] : {std::pair{0, 1}, {1, 0}, {2, 1}}) {  // of (3, 8) and (8, 3)
        host_vector<index> row, col;
        host_vector<double> val;
        for (index i = 0; i < 900; ++i) row.push_back(i), col.push_back(i), val.push_back(9);
        if (above > 0) row.push_back(3), col.push_back(8), val.push_back(above);
        if (below > 0) row.push_back(8), col.push_back(3), val.push_back(below);
        EXPECT_PRED2(contains, said(assemble<double>({900, 900}, row, col, val)),
                     above > 0 ? "not symmetric in row 3" : "not symmetric in row 8");
    }
    auto rounded = A;
    rounded.val[1] = std::nextafter(rounded.val[1], 0);
    EXPECT_EQ(said(rounded), "nothing");
    wrong = A, wrong.val[0] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_PRED2(contains, said(wrong), "not positive definite");
    wrong = A, wrong.val[1] = std::numeric_limits<double>::quiet_NaN();
    EXPECT_PRED2(contains, said(wrong), "A is not finite: row 0, column 1 has nan");
    EXPECT_PRED2(contains, said(A, {.block = -1}), "block");
    EXPECT_PRED2(contains, said(A, {.adaptive_candidates = -1}), "adaptive_candidates");
    EXPECT_PRED2(contains, said(A, {.relaxations = 0}), "relaxations");
    EXPECT_THROW(M(A, this->on, {}, {2, host_vector<double>(900)}), argument_error);
    EXPECT_THROW(M(A, this->on, {}, {-1, host_vector<double>(900)}), argument_error);
    candidates<double> near{2, host_vector<double>(1800, 1.0)};
    for (const double not_finite :
         {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
        near.val[9] = not_finite;
        EXPECT_THROW(M(A, this->on, {}, near), argument_error);
    }
}

TEST(multigrid_report, counts_levels_and_nonzeros) {
    const auto A = laplace2d<double>(100, 100);
    const amg<double, cpu> M(A, {});
    const auto& r = M.report();
    ASSERT_GE(r.levels.size(), 2U);
    EXPECT_TRUE(r.direct);
    EXPECT_EQ(r.levels[0].rows, 10000);
    EXPECT_EQ(r.levels[0].nnz, 49600);
    double nnz = 0;
    for (const auto& l : r.levels) nnz += double(l.nnz);
    EXPECT_EQ(r.operator_complexity(), nnz / 49600);
    EXPECT_GT(r.grid_complexity(), 1);
    EXPECT_LT(r.operator_complexity(), 2);
    EXPECT_NE(to_text(r).find("solved directly"), std::string::npos);
    EXPECT_GT(M.bytes(), 0U);
}

TEST(chebyshev, steps_are_the_polynomial_that_is_least) {
    // The error after the steps for an eigenvalue t is T_k((high + low - 2 t) / (high - low)) over
    // its value at t = 0.
    const double low = 0.3, high = 2.1;
    for (const int degree : {1, 2, 3, 4, 5})
        for (double t = 0; t <= high; t += 0.1) {
            double x = 0, r = 1, d = 0;
            for (const auto& [f, c] : chebyshev_steps(degree, low, high))
                d = f * d + c * r, x += d, r -= t * d;
            const auto T = [&](double at) {
                const double s = (high + low - 2 * at) / (high - low);
                return std::abs(s) <= 1 ? std::cos(degree * std::acos(s))
                                        : std::cosh(degree * std::acosh(s));
            };
            EXPECT_NEAR(r, T(t) / T(0), 1e-13) << degree << ' ' << t;
        }
    EXPECT_THROW(chebyshev_steps(0, 1, 2), argument_error);
    EXPECT_THROW(chebyshev_steps(2, 2, 1), argument_error);
    EXPECT_THROW(chebyshev_steps(2, 0, 1), argument_error);
}

TEST(spectral_radius, is_that_of_the_laplacian) {
    const index n = 30;
    const auto A = laplace2d<double>(n, n);
    const auto op = build(find_method<double>("csr.serial"), cpu{}, view(A));
    const host_vector<double> w(900, 0.25);
    const double want = 2 * std::pow(std::sin(std::acos(-1.0) / 2 * n / (n + 1)), 2);
    const double rough = spectral_radius<double, cpu>({}, *op, w, 10);
    EXPECT_LE(rough, want * (1 + 1e-12));
    EXPECT_GE(rough, 0.9 * want);
    EXPECT_NEAR((spectral_radius<double, cpu>({}, *op, w, 150)), want, 1e-6);
}

}  // namespace
}  // namespace nz::test
