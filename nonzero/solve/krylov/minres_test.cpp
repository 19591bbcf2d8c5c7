// MINRES: indefinite systems with known solutions, held against GMRES, which minimises the same;
// preconditioners, and every way to end.
#include "nonzero/solve/krylov/minres.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using minimal_residuals = solver_test<T>;
TYPED_TEST_SUITE(minimal_residuals, everywhere);

/// From x, or from zero where it is empty; with M where it is given.
template <class T, class V>
solve_report solve(const solver_test<T>& on, const csr<V, host>& A, const host_vector<V>& b,
                   host_vector<V>& x, const solve_options& o = {},
                   const linear_operator<V, typename T::B>* M = nullptr) {
    using B = typename T::B;
    if (x.empty()) x.assign(b.size(), V(0));
    const auto op = on.operator_of(A);
    auto x_on_device = on.to_backend(x);
    const auto report = M == nullptr
                            ? minres<V, B>(on.on_, *op, on.to_backend(b), x_on_device, o)
                            : minres<V, B>(on.on_, *op, *M, on.to_backend(b), x_on_device, o);
    x = on.here(x_on_device);
    return report;
}

/// The absolute values of the diagonal of A, 1 where it is zero.
template <class V>
csr<V, host> absolute_diagonal(const csr<V, host>& A) {
    const auto d = diagonal_of(view(A));
    std::vector<index> at(d.size());
    host_vector<V> val(d.size());
    for (std::size_t i = 0; i < d.size(); ++i)
        at[i] = index(i), val[i] = d[i] == V(0) ? V(1) : V(std::abs(d[i]));
    return assemble<V>(A.shape, at, at, val);
}

template <class V>
auto all_systems() {
    auto all = indefinite_systems<V>();
    for (auto& s : definite_systems<V>()) all.push_back(std::move(s));
    return all;
}

TYPED_TEST(minimal_residuals, find_manufactured_solutions) {
    using V = typename TypeParam::V;
    for (const auto& [name, A, b] : all_systems<V>()) {
        const auto M = jacobi(this->on_, view(absolute_diagonal(A)));
        for (const auto* with : {static_cast<decltype(M.get())>(nullptr), M.get()}) {
            host_vector<V> x;
            const auto report = solve(*this, A, b, x, {.tol = this->tol}, with);
            const auto r = residual_of(A, x, b);
            EXPECT_TRUE(report.converged) << name << ": " << report.why;
            EXPECT_EQ(report.why, "converged");
            EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << name;
            EXPECT_NEAR(report.residual_norm, double(r.norm), double(r.rounding)) << name;
            ASSERT_EQ(report.history.size(), std::size_t(report.iterations) + 1) << name;
            EXPECT_LE(report.iterations, 5 * A.shape.rows) << name;
        }
    }
}

/// For a symmetric matrix both minimise |b - A x| over the same space.
TYPED_TEST(minimal_residuals, are_those_of_full_gmres) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const auto& [name, A, b] : indefinite_systems<V>()) {
        host_vector<V> x;
        const auto report = solve(*this, A, b, x, {.tol = 1e-3});
        gmres_options o;
        o.tol = 1e-3, o.restart = 900;
        const auto op = this->operator_of(A);
        auto other = this->to_backend(host_vector<V>(b.size(), V(0)));
        const auto least = gmres<V, B>(this->on_, *op, this->to_backend(b), other, o);
        ASSERT_TRUE(least.converged) << name;
        const auto& ours = report.history;
        const double grain = std::is_same_v<real<V>, float> ? 1e-3 : 1e-9;
        for (std::size_t k = 0; k < std::min(ours.size(), least.history.size()); ++k) {
            EXPECT_NEAR(ours[k], least.history[k], grain) << name << ", iteration " << k;
            EXPECT_LE(ours[k], ours[k > 0 ? k - 1 : 0] * (1 + 1e-12)) << name;
        }
        // Without reorthogonalisation float needs more.
        const double more = std::is_same_v<real<V>, double> ? 3 : 10;
        EXPECT_NEAR(double(report.iterations), double(least.iterations), more) << name;
    }
}

TYPED_TEST(minimal_residuals, need_an_iteration_for_each_eigenvalue) {
    using V = typename TypeParam::V;
    std::vector<index> at(60);
    host_vector<V> val(60);
    for (std::size_t i = 0; i < 60; ++i)
        at[i] = index(i), val[i] = V(std::array<real<V>, 3>{-2, 1, 5}[i % 3]);
    host_vector<V> x;
    const auto report = solve(*this, assemble<V>({60, 60}, at, at, val), host_vector<V>(60, V(1)),
                              x, {.tol = this->tol});
    EXPECT_TRUE(report.converged) << report.why;
    EXPECT_EQ(report.iterations, 3);
}

/// Rows of different weight are what a diagonal is for.
TYPED_TEST(minimal_residuals, precondition) {
    using V = typename TypeParam::V;
    auto A = kkt(laplace2d<V>(12, 11), 40);
    const auto weight = [](index i) { return real<V>(1 + i % 30); };
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] *= weight(i) * weight(A.col_ind[k]);
    const auto s = manufactured<V>("", A);
    std::vector<index> at;
    host_vector<V> val;
    for (index i = 0; i < A.shape.rows; ++i)
        at.push_back(i), val.push_back(V(weight(i) * weight(i)));
    const auto M = jacobi(this->on_, view(assemble<V>(A.shape, at, at, val)));
    host_vector<V> x, plain_x;
    const auto with = solve(*this, s.A, s.b, x, {.tol = this->tol}, M.get());
    const auto plain = solve(*this, s.A, s.b, plain_x, {.tol = this->tol, .max_iter = 3000});
    EXPECT_TRUE(with.converged) << with.why;
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
    EXPECT_LT(2 * with.iterations, plain.iterations);
}

TYPED_TEST(minimal_residuals, name_a_preconditioner_that_is_not_definite) {
    using V = typename TypeParam::V;
    const auto A = shifted(laplace2d<V>(10, 10), real<V>(2.3));
    const auto M = this->multiple(100, V(-1));
    host_vector<V> x;
    const auto report = solve(*this, A, host_vector<V>(100, V(1)), x, {}, &M);
    EXPECT_FALSE(report.converged);
    EXPECT_NE(report.why.find("preconditioner M is not"), std::string::npos) << report.why;
    EXPECT_EQ(report.iterations, 0);
    EXPECT_EQ(x, host_vector<V>(100, V(0))) << "x was touched";

    // Definite for the first direction only.
    std::vector<index> at(100);
    host_vector<V> val(100, V(1));
    for (std::size_t i = 0; i < 100; ++i) at[i] = index(i);
    for (std::size_t i = 0; i < 10; ++i) val[i] = V(real<V>(-0.5));
    const auto later = jacobi(this->on_, view(assemble<V>({100, 100}, at, at, val)));
    host_vector<V> b(100, V(1));
    for (std::size_t i = 0; i < 10; ++i) b[i] = V(0);
    x.clear();
    const auto second = solve(*this, A, b, x, {.max_iter = 300}, later.get());
    EXPECT_FALSE(second.converged);
    EXPECT_NE(second.why.find("preconditioner M is not"), std::string::npos) << second.why;
    EXPECT_GT(second.iterations, 0);
    const auto r = residual_of(A, x, b);
    EXPECT_NEAR(second.residual_norm, double(r.norm), double(r.rounding));
    EXPECT_LE(second.relative_residual(), 1);
}

TYPED_TEST(minimal_residuals, know_a_singular_matrix) {
    using V = typename TypeParam::V;
    const auto graph = [] {  // rows sum to zero
        auto made = laplace2d<V>(20, 20);
        for (index i = 0; i < 400; ++i) {
            V sum(0);
            std::size_t diagonal = 0;
            for (auto k = std::size_t(made.row_ptr[std::size_t(i)]);
                 k < std::size_t(made.row_ptr[std::size_t(i) + 1]); ++k)
                made.col_ind[k] == i ? void(diagonal = k) : void(sum += made.val[k]);
            made.val[diagonal] = -sum;
        }
        return made;
    }();
    // A product of A is no trouble.
    const auto s = manufactured<V>("", graph);
    host_vector<V> x;
    const auto within = solve(*this, s.A, s.b, x, {.tol = this->tol});
    EXPECT_TRUE(within.converged) << within.why;

    // Of any other b what is left is what no x removes: here b's mean.
    host_vector<V> b(400);
    for (std::size_t i = 0; i < 400; ++i) b[i] = V(real<V>(1 + i % 3));
    V mean(0);
    for (const V& v : b) mean += v / real<V>(400);
    x.clear();
    const auto beyond = solve(*this, s.A, b, x, {.tol = this->tol, .max_iter = 2000});
    EXPECT_FALSE(beyond.converged);
    const auto r = residual_of(s.A, x, b);
    EXPECT_LE(double(r.norm), 1.01 * std::abs(mean) * 20) << beyond.why;
    EXPECT_NE(beyond.why.find("A is singular"), std::string::npos) << beyond.why;

    const std::vector<index> diagonal{0, 1};
    const host_vector<V> val{V(1), V(0)};
    x.clear();
    const auto two = solve(*this, assemble<V>({2, 2}, diagonal, diagonal, val), {V(1), V(1)}, x,
                           {.tol = this->tol, .max_iter = 50});
    EXPECT_FALSE(two.converged);
    EXPECT_NE(two.why.find("A is singular"), std::string::npos) << two.why;
    EXPECT_LE(std::abs(x[1]), 1e3) << "x was spoilt";
}

TYPED_TEST(minimal_residuals, end_where_they_must) {
    using V = typename TypeParam::V;
    const auto A = shifted(laplace2d<V>(20, 20), real<V>(1.3));
    const host_vector<V> b(400, V(1));
    for (const std::int64_t most : {4, 5}) {
        host_vector<V> x;
        const auto spent = solve(*this, A, b, x, {.tol = this->tol, .max_iter = most});
        EXPECT_EQ(spent.iterations, most);
        EXPECT_EQ(spent.why, "max_iter iterations were spent");
        // x is up to date: the residual carried along is that of x.
        EXPECT_NEAR(spent.history.back(), spent.relative_residual(), 1e-5);
    }
    host_vector<V> x;
    const auto stop = [](std::int64_t k, double) { return k < 3; };
    const auto stopped = solve(*this, A, b, x, {.tol = this->tol, .monitor = stop});
    EXPECT_EQ(stopped.why, "stopped by the caller");
    EXPECT_NEAR(stopped.history.back(), stopped.relative_residual(), 1e-5);

    EXPECT_TRUE(solve(*this, A, host_vector<V>(400, V(0)), x).converged);
    EXPECT_EQ(x, host_vector<V>(400, V(0)));
    host_vector<V> none;
    EXPECT_TRUE(solve(*this, csr<V, host>{{0, 0}, {0}, {}, {}}, {}, none).converged);

    auto overflows = A;
    for (V& v : overflows.val) v *= std::numeric_limits<real<V>>::max() / 4;
    host_vector<V> three(400, V(0));
    three[17] = V(3);
    x.clear();
    const auto bad = solve(*this, overflows, three, x);
    EXPECT_FALSE(bad.converged);
    EXPECT_NE(bad.why.find("not finite"), std::string::npos) << bad.why;
    EXPECT_EQ(x, host_vector<V>(400, V(0))) << "x was spoilt";
}

TYPED_TEST(minimal_residuals, go_on_from_a_guess_and_replace_the_residual) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", kkt(laplace2d<V>(12, 11), 40));
    host_vector<V> x;
    EXPECT_FALSE(solve(*this, s.A, s.b, x, {.tol = this->tol, .max_iter = 7}).converged);
    EXPECT_TRUE(solve(*this, s.A, s.b, x, {.tol = this->tol}).converged);
    const auto solution = x;
    EXPECT_EQ(solve(*this, s.A, s.b, x, {.tol = this->tol}).iterations, 0);
    EXPECT_EQ(x, solution);
    x.clear();
    const auto M = jacobi(this->on_, view(absolute_diagonal(s.A)));
    const auto replaced =
        solve(*this, s.A, s.b, x, {.tol = this->tol, .replace_every = 33}, M.get());
    EXPECT_TRUE(replaced.converged) << replaced.why;
}

TYPED_TEST(minimal_residuals, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", kkt(laplace3d<V>(20, 21, 22), 1000));
    const auto M = jacobi(this->on_, view(absolute_diagonal(s.A)));
    for (const auto* with : {static_cast<decltype(M.get())>(nullptr), M.get()}) {
        host_vector<V> first, second;
        const solve_options o{.tol = this->tol, .max_iter = 150};
        const auto one = solve(*this, s.A, s.b, first, o, with);
        const auto two = solve(*this, s.A, s.b, second, o, with);
        EXPECT_EQ(first, second);
        EXPECT_EQ(one.history, two.history);
    }
}

/// Also where passes of the graph end within it: 4 iterations a pass, 1,024 a batch.
TYPED_TEST(minimal_residuals, have_the_same_bits_in_a_graph_and_by_any_batch) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", kkt(laplace2d<V>(12, 11), 40));
    const auto M = jacobi(this->on_, view(absolute_diagonal(s.A)));
    for (const auto* with : {static_cast<decltype(M.get())>(nullptr), M.get()}) {
        host_vector<V> plain, watched, launched;
        const auto one = solve(*this, s.A, s.b, plain, {.tol = this->tol}, with);
        const auto monitor = [](std::int64_t, double) { return true; };
        const auto two =
            solve(*this, s.A, s.b, watched, {.tol = this->tol, .monitor = monitor}, with);
        const auto three =
            solve(*this, s.A, s.b, launched, {.tol = this->tol, .graph = false}, with);
        EXPECT_EQ(one.in_graph, (std::is_same_v<typename TypeParam::B, gpu>));
        EXPECT_FALSE(three.in_graph);
        EXPECT_EQ(one.history, two.history);
        EXPECT_EQ(one.history, three.history);
        EXPECT_EQ(plain, watched);
        EXPECT_EQ(plain, launched);
    }
}

}  // namespace
}  // namespace nz::test
