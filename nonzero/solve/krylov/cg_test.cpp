// Conjugate gradients: manufactured solutions with the residual in long double, every way to break
// down, and on a GPU the same bits with a graph and without.
#include "nonzero/solve/krylov/cg.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "nonzero/plan/plan.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using conjugate_gradients = solver_test<T>;
/// From zero, or from x where it is not empty.
template <class T, class V>
solve_report solve(const solver_test<T>& on, const csr<V, host>& A, const host_vector<V>& b,
                   host_vector<V>& x, const solve_options& o = {}) {
    using B = typename T::B;
    if (x.empty()) x.assign(b.size(), V(0));
    const auto op = on.operator_of(A);
    auto x_on_device = on.to_backend(x);
    const auto report = cg<V, B>(on.on_, *op, on.to_backend(b), x_on_device, o);
    x = on.here(x_on_device);
    return report;
}

TYPED_TEST_SUITE(conjugate_gradients, everywhere);

TYPED_TEST(conjugate_gradients, find_manufactured_solutions) {
    using V = typename TypeParam::V;
    for (const auto& [name, A, b] : definite_systems<V>()) {
        host_vector<V> x;
        const auto report = solve(*this, A, b, x, {.tol = this->tol});
        const auto r = residual_of(A, x, b);
        EXPECT_TRUE(report.converged) << name << ": " << report.why;
        EXPECT_EQ(report.why, "converged");
        EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << name;
        EXPECT_NEAR(report.residual_norm, double(r.norm), double(r.rounding)) << name;
        ASSERT_EQ(report.history.size(), std::size_t(report.iterations) + 1) << name;
        EXPECT_NEAR(report.history.front(), 1, 1e-6) << name;
        EXPECT_LE(report.iterations, 10 * A.shape.rows) << name;
    }
}

TYPED_TEST(conjugate_gradients, a_planned_product_serves) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = laplace3d<V>(20, 20, 20);
    const host_vector<V> b(std::size_t(A.shape.rows), V(1));
    const auto op = build(make_plan(A, this->on_), A);
    auto x = this->to_backend(host_vector<V>(b.size(), V(0)));
    const auto report = cg<V, B>(this->on_, *op, this->to_backend(b), x, {.tol = this->tol});
    EXPECT_TRUE(report.converged) << report.why;
    const auto r = residual_of(A, this->here(x), b);
    EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
}

TYPED_TEST(conjugate_gradients, a_good_guess_needs_no_iteration_and_zero_has_the_answer_zero) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(9, 9);
    const host_vector<V> b(81, V(1));
    host_vector<V> x;
    ASSERT_TRUE(solve(*this, A, b, x, {.tol = this->tol}).converged);
    const auto solution = x;
    const auto again = solve(*this, A, b, x, {.tol = this->tol});
    EXPECT_TRUE(again.converged);
    EXPECT_EQ(again.iterations, 0);
    EXPECT_EQ(x, solution);
    const auto zero = solve(*this, A, host_vector<V>(81, V(0)), x);
    EXPECT_TRUE(zero.converged);
    EXPECT_EQ(x, host_vector<V>(81, V(0)));
    EXPECT_EQ(zero.relative_residual(), 0);
}

TYPED_TEST(conjugate_gradients, an_empty_system_is_solved) {
    using V = typename TypeParam::V;
    host_vector<V> x;
    EXPECT_TRUE(solve(*this, csr<V, host>{{0, 0}, {0}, {}, {}}, {}, x).converged);
}

TYPED_TEST(conjugate_gradients, spend_max_iter_and_say_so) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", laplace2d<V>(30, 30));
    host_vector<V> x;
    const auto report = solve(*this, s.A, s.b, x, {.tol = this->tol, .max_iter = 7});
    EXPECT_FALSE(report.converged);
    EXPECT_EQ(report.iterations, 7);
    EXPECT_EQ(report.history.size(), 8U);
    EXPECT_EQ(report.status, status::max_iter);
    EXPECT_EQ(report.why, "max_iter iterations were spent");
    // x is up to date: the residual carried along is that of x.
    EXPECT_NEAR(report.history.back(), report.relative_residual(), 1e-5);
    // Residuals of conjugate gradients may grow at first: then x is the guess, which is better.
    const host_vector<V> ones(900, V(1));
    x.clear();
    const auto grown = solve(*this, s.A, ones, x, {.tol = this->tol, .max_iter = 7});
    EXPECT_GT(grown.history.back(), 1);
    EXPECT_EQ(grown.relative_residual(), 1);
    EXPECT_EQ(x, host_vector<V>(900, V(0)));
}

TYPED_TEST(conjugate_gradients, replace_the_residual) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", laplace2d<V>(40, 40));
    host_vector<V> x;
    const auto report = solve(*this, s.A, s.b, x, {.tol = this->tol, .replace_every = 10});
    EXPECT_TRUE(report.converged) << report.why;
    host_vector<V> plain;
    const auto without = solve(*this, s.A, s.b, plain, {.tol = this->tol});
    EXPECT_LE(report.iterations, without.iterations + 10);
}

TYPED_TEST(conjugate_gradients, know_what_rounding_errors_allow) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", laplace2d<V>(40, 40));
    host_vector<V> x;
    const auto report = solve(*this, s.A, s.b, x, {.tol = 1e-30});
    EXPECT_FALSE(report.converged);
    EXPECT_EQ(report.why, "the true residual stays above what rounding errors allow");
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 10 * r.rounding);
}

TYPED_TEST(conjugate_gradients, call_watch_for_every_iteration_in_order_until_it_stops_them) {
    using V = typename TypeParam::V;
    const auto A = laplace2d<V>(30, 30);
    host_vector<V> x;
    std::vector<std::int64_t> seen;
    std::vector<double> residuals{1};
    const auto monitor = [&](std::int64_t k, double residual) {
        seen.push_back(k), residuals.push_back(residual);
        return true;
    };
    const auto all =
        solve(*this, A, host_vector<V>(900, V(1)), x, {.tol = this->tol, .monitor = monitor});
    ASSERT_TRUE(all.converged);
    ASSERT_EQ(seen.size(), std::size_t(all.iterations));
    for (std::size_t k = 0; k < seen.size(); ++k) EXPECT_EQ(seen[k], std::int64_t(k) + 1);
    EXPECT_EQ(residuals, all.history);

    x.clear();
    const auto stop = [](std::int64_t k, double) { return k < 3; };
    const auto some =
        solve(*this, A, host_vector<V>(900, V(1)), x, {.tol = this->tol, .monitor = stop});
    EXPECT_FALSE(some.converged);
    EXPECT_EQ(some.why, "stopped by the caller");
    EXPECT_LT(some.iterations, all.iterations);
}

TYPED_TEST(conjugate_gradients, precondition) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("", laplace2d<V>(30, 30));
    const auto op = this->operator_of(s.A);
    const auto b = this->to_backend(s.b), zero = this->to_backend(host_vector<V>(s.b.size(), V(0)));
    // A multiple of the identity changes nothing but the scalars.
    host_vector<V> x;
    const auto plain = solve(*this, s.A, s.b, x, {.tol = this->tol});
    auto x_on_device = this->to_backend(host_vector<V>(s.b.size(), V(0)));
    const auto quarter = cg<V, B>(this->on_, *op, this->multiple(900, V(real<V>(0.25))), b,
                                  x_on_device, {.tol = this->tol});
    EXPECT_TRUE(quarter.converged) << quarter.why;
    EXPECT_NEAR(double(quarter.iterations), double(plain.iterations), 1);
    const auto r = residual_of(s.A, this->here(x_on_device), s.b);
    EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
}

TYPED_TEST(conjugate_gradients, name_what_is_not_definite) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    auto A = laplace2d<V>(10, 10);
    host_vector<V> x;
    auto negative = A;
    for (V& v : negative.val) v = -v;
    const auto no_matrix = solve(*this, negative, host_vector<V>(100, V(1)), x);
    EXPECT_FALSE(no_matrix.converged);
    EXPECT_EQ(no_matrix.status, status::indefinite_matrix);
    EXPECT_NE(no_matrix.why.find("A is not positive definite"), std::string::npos) << no_matrix.why;
    EXPECT_EQ(x, host_vector<V>(100, V(0))) << "x was touched";

    const auto op = this->operator_of(A);
    auto x_on_device = this->to_backend(x);
    const auto no_preconditioner =
        cg<V, B>(this->on_, *op, this->multiple(100, V(-1)),
                 this->to_backend(host_vector<V>(100, V(1))), x_on_device);
    EXPECT_FALSE(no_preconditioner.converged);
    EXPECT_NE(no_preconditioner.why.find("preconditioner M is not"), std::string::npos)
        << no_preconditioner.why;
    EXPECT_EQ(this->here(x_on_device), x) << "x was touched";
}

TYPED_TEST(conjugate_gradients, stop_at_numbers_that_are_not) {
    using V = typename TypeParam::V;
    const V nan = std::numeric_limits<real<V>>::quiet_NaN();
    auto A = laplace2d<V>(10, 10);
    host_vector<V> b(100, V(1)), x;
    b[17] = nan;
    const auto bad_b = solve(*this, A, b, x);
    EXPECT_FALSE(bad_b.converged);
    EXPECT_EQ(bad_b.status, status::not_finite_at_start);
    EXPECT_EQ(bad_b.why, "b, or b - A x at the start, is not finite");
    EXPECT_EQ(bad_b.iterations, 0);

    b.assign(100, V(0));
    b[17] = V(3);
    x.clear();
    // A 0 is 0, so that the start is fine; A b overflows.
    auto A_overflows = A;
    for (V& v : A_overflows.val) v *= std::numeric_limits<real<V>>::max() / 4;
    const auto bad_A = solve(*this, A_overflows, b, x);
    EXPECT_FALSE(bad_A.converged);
    EXPECT_NE(bad_A.why.find("not finite"), std::string::npos) << bad_A.why;
    EXPECT_EQ(x, host_vector<V>(100, V(0))) << "x was spoilt";
}

TYPED_TEST(conjugate_gradients, refuse_what_does_not_fit) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = laplace2d<V>(3, 3);
    const auto op = this->operator_of(A);
    const auto nine = this->to_backend(host_vector<V>(9, V(1)));
    auto x = this->to_backend(host_vector<V>(9, V(0))),
         short_x = this->to_backend(host_vector<V>(8, V(0)));
    const auto run = [&](const auto& matrix, const auto& b, auto& to, const solve_options& o) {
        (void)cg<V, B>(this->on_, matrix, b, to, o);
    };
    EXPECT_THROW(run(*op, nine, short_x, {}), argument_error);
    EXPECT_THROW(run(*op, short_x, x, {}), argument_error);
    EXPECT_THROW(run(*op, nine, x, {.tol = -1}), argument_error);
    EXPECT_THROW(run(*op, nine, x, {.tol = std::nan("")}), argument_error);
    EXPECT_THROW(run(*op, nine, x, {.max_iter = -1}), argument_error);
    EXPECT_THROW((cg<V, B>(this->on_, *op, this->multiple(8, V(1)), nine, x)), argument_error);
    const auto wide = this->operator_of(random<V>(9, 10, 2, 1));
    EXPECT_THROW(run(*wide, nine, x, {}), argument_error);
}

TYPED_TEST(conjugate_gradients, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", laplace3d<V>(20, 21, 22));
    host_vector<V> first, second;
    const auto one = solve(*this, s.A, s.b, first, {.tol = this->tol});
    const auto two = solve(*this, s.A, s.b, second, {.tol = this->tol});
    EXPECT_EQ(first, second);
    EXPECT_EQ(one.history, two.history);
}

class conjugate_gradients_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
        stream_ = std::make_unique<gpu_stream>();
    }
    std::unique_ptr<gpu_stream> stream_;
};

TEST_F(conjugate_gradients_on_gpu, run_as_a_graph_with_the_same_bits_as_without) {
    const auto s = manufactured<double>("", laplace3d<double>(20, 21, 22));
    const auto solve = [&](gpu on, const solve_options& o, host_vector<double>& x) {
        const auto op = build(find_method<double>("csr.merge"), on, view(s.A));
        auto x_on_device = from_host(on, std::span<const double>(x));
        const auto report =
            cg<double, gpu>(on, *op, from_host(on, std::span<const double>(s.b)), x_on_device, o);
        x = to_host<double>(on, x_on_device);
        return report;
    };
    host_vector<double> in_graph(s.b.size(), 0.0), without = in_graph, default_stream = in_graph;
    const auto graph = solve(*stream_, {}, in_graph);
    EXPECT_TRUE(graph.in_graph);
    EXPECT_TRUE(graph.converged);
    const auto plain = solve(*stream_, {.graph = false}, without);
    EXPECT_FALSE(plain.in_graph);
    EXPECT_EQ(graph.history, plain.history);
    EXPECT_EQ(in_graph, without);
    const auto on_default = solve(gpu{}, {}, default_stream);
    EXPECT_FALSE(on_default.in_graph);
    EXPECT_EQ(in_graph, default_stream);
}

TEST_F(conjugate_gradients_on_gpu, do_without_a_graph_where_a_preconditioner_waits) {
    const auto s = manufactured<double>("", laplace2d<double>(20, 20));
    const gpu on = *stream_;
    const auto op = build(find_method<double>("csr.merge"), on, view(s.A));
    const auto M =
        make_operator<double>(on, {400, 400}, [&](device_span<double> r, device_out<double> z) {
            auto here = to_host<double>(on, r);
            for (double& v : here) v /= 4;
            copy_to_device(on, here.data(), z.data(), here.size() * sizeof(double));
        });
    auto x = from_host(on, std::span<const double>(host_vector<double>(400, 0.0)));
    const auto report = cg<double, gpu>(on, *op, M, from_host(on, std::span<const double>(s.b)), x);
    EXPECT_TRUE(report.converged) << report.why;
    EXPECT_FALSE(report.in_graph);
}

}  // namespace
}  // namespace nz::test
