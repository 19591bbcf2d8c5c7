// nz::solve and nz::solver of what lies on the GPU, against the same from the CPU's memory.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>

#include "bench/sequences.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/solve/choices.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/solver.hpp"
#include "nonzero/vector/vectors.hpp"
#include "test/systems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

TEST(solve_without_a_gpu, says_so) {
    if (why_no_gpu().empty()) GTEST_SKIP() << "there is one";
    EXPECT_THROW(solve<double>(gpu{}, csr<double, device_view>{}, device_span<double>{},
                               device_out<double>{}),
                 unavailable);
    EXPECT_THROW((solve<double>(gpu{}, csr<double, device_view>{}, in_columns<double, gpu>{},
                                out_columns<double, gpu>{})),
                 unavailable);
    EXPECT_THROW((solver<double, gpu>(gpu{}, csr<double, device_view>{})), unavailable);
}

template <class V>
class solve_on_gpu : public ::testing::Test {
  protected:
    void SetUp() override {
        if (const std::string why = why_no_gpu(); !why.empty()) GTEST_SKIP() << why;
        if (std::getenv("NZ_DEFAULT_STREAM") != nullptr) return;  // as solver_test
        stream = std::make_unique<gpu_stream>();
        on = *stream;
    }
    static constexpr double tol = std::is_same_v<V, float> ? 1e-4 : 1e-10;
    static system_options options(bool iterative = true) {
        system_options o;
        o.tol = tol, o.iterative = iterative;
        return o;
    }
    struct solved {
        host_vector<V> x;
        system_report report;
    };
    solved on_gpu(const csr<V, host>& A, const host_vector<V>& b, const system_options& o) {
        const auto there = upload(on, A);
        const auto b_on_gpu = from_host(on, std::span<const V>(b));
        auto x = from_host(on, std::span<const V>(host_vector<V>(b.size(), V(0))));
        auto report = solve<V>(on, view(there), b_on_gpu, x, o);
        return {to_host<V>(on, x), std::move(report)};
    }
    solved from_cpu(const csr<V, host>& A, const host_vector<V>& b, const system_options& o) {
        host_vector<V> x(b.size(), V(0));
        auto report = solve<V>(on, view(A), b, x, o);
        return {std::move(x), std::move(report)};
    }
    static std::vector<linear_system<V>> all_systems() {
        auto all = definite_systems<V>();
        for (auto& s : indefinite_systems<V>()) all.push_back(std::move(s));
        for (auto& s : general_systems<V>()) all.push_back(std::move(s));
        return all;
    }
    static void expect_solved(const csr<V, host>& A, const host_vector<V>& x,
                              const host_vector<V>& b) {
        const auto r = residual_of(A, x, b);
        EXPECT_LE(double(r.norm), 1.01 * tol * double(r.rhs) + double(r.rounding));
    }

    std::unique_ptr<gpu_stream> stream;
    gpu on;
};
using values = ::testing::Types<float, double>;
TYPED_TEST_SUITE(solve_on_gpu, values);

std::size_t copies_in(const system_report& r) {
    return std::size_t(std::ranges::count_if(r.reasons, [](const std::string& s) {
        return s.find("was copied to the CPU") != std::string::npos;
    }));
}

TYPED_TEST(solve_on_gpu, gives_what_the_cpus_memory_gives) {
    for (const bool iterative : {true, false})
        for (const auto& s : this->all_systems()) {
            SCOPED_TRACE(s.name);
            const auto o = this->options(iterative);
            const auto got = this->on_gpu(s.A, s.b, o), want = this->from_cpu(s.A, s.b, o);
            EXPECT_TRUE(got.report.converged()) << got.report.result().report.why;
            this->expect_solved(s.A, got.x, s.b);
            EXPECT_EQ(got.report.result().report.status, want.report.result().report.status);
            EXPECT_EQ(got.report.result().method, want.report.result().method);
            EXPECT_EQ(got.report.result().preconditioner, want.report.result().preconditioner);
            EXPECT_EQ(got.report.attempts.size(), want.report.attempts.size());
            EXPECT_EQ(got.report.negated, want.report.negated);
            ASSERT_LE(want.report.reasons.size(), got.report.reasons.size());
            for (std::size_t k = 0; k < want.report.reasons.size(); ++k)
                EXPECT_EQ(got.report.reasons[k], want.report.reasons[k]);
            EXPECT_EQ(got.report.reasons.size(),
                      want.report.reasons.size() + copies_in(got.report));
            const auto again = this->on_gpu(s.A, s.b, o);
            EXPECT_EQ(again.x, got.x);  // the same bits in every run
        }
}

TYPED_TEST(solve_on_gpu, negates_as_from_the_cpu) {
    using V = TypeParam;
    auto minus = laplace2d<V>(31, 30);
    const auto b = random_vector<V>(930, 1);
    const auto plus = this->on_gpu(minus, b, this->options());
    for (V& v : minus.val) v = -v;
    const auto got = this->on_gpu(minus, b, this->options());
    EXPECT_TRUE(got.report.negated);
    EXPECT_FALSE(plus.report.negated);
    for (std::size_t i = 0; i < b.size(); ++i) ASSERT_EQ(got.x[i], -plus.x[i]);
}

/// So large that it is solved as a matrix of the GPU's; what is made on the CPU takes the original.
TYPED_TEST(solve_on_gpu, solves_a_large_matrix_of_the_cpus_memory_as_its_own) {
    using V = TypeParam;
    auto A = laplace3d<V>(20, 20, 21);
    ASSERT_GT(A.val.size(), 50000U);
    const auto b = random_vector<V>(std::size_t(A.shape.rows), 1);
    for (const bool negative : {false, true}) {
        if (negative)
            for (V& v : A.val) v = -v;
        for (const auto p : {preconditioning::amg, preconditioning::jacobi, preconditioning::ic}) {
            SCOPED_TRACE(name_of(p));
            auto o = this->options();
            o.preconditioner = p;
            const auto got = this->from_cpu(A, b, o), want = this->on_gpu(A, b, o);
            EXPECT_TRUE(got.report.converged());
            EXPECT_EQ(got.x, want.x);
            EXPECT_EQ(got.report.negated, negative);
            EXPECT_EQ(got.report.product, want.report.product);
            EXPECT_EQ(copies_in(got.report), 0U);
        }
        solver<V, gpu> kept(this->on, view(A), this->options());
        host_vector<V> x(b.size(), V(0));
        EXPECT_TRUE(kept.solve(b, x).converged());
        this->expect_solved(A, x, b);
        auto stiffer = A;
        for (V& v : stiffer.val) v *= V(2);
        kept.take_values(stiffer);
        EXPECT_TRUE(kept.solve(b, x).converged());
        this->expect_solved(stiffer, x, b);
    }
}

/// Every method and preconditioner, alone; one copy for those that are made on the CPU.
TYPED_TEST(solve_on_gpu, copies_the_matrix_only_for_what_is_made_on_the_cpu) {
    using V = TypeParam;
    using enum preconditioning;
    const auto A = laplace2d<V>(40, 41);
    const auto b = random_vector<V>(std::size_t(A.shape.rows), 1);
    const std::pair<preconditioning, std::size_t> all[] = {
        {none, 0}, {jacobi, 0}, {amg, 0}, {block_jacobi, 1}, {gauss_seidel, 1}, {matching, 1},
        {ilut, 1}, {ilu, 1},    {ic, 1},  {fsai, 1},         {spai, 1},         {ict, 1}};
    for (const auto& [p, copies] : all) {
        SCOPED_TRACE(name_of(p));
        auto o = this->options();
        o.preconditioner = p;
        const auto got = this->on_gpu(A, b, o), want = this->from_cpu(A, b, o);
        EXPECT_EQ(got.report.converged(), want.report.converged());
        EXPECT_EQ(got.report.result().method, want.report.result().method);
        if (got.report.converged()) this->expect_solved(A, got.x, b);
        EXPECT_EQ(copies_in(got.report), copies);
    }
    for (const auto m : {krylov_method::direct, krylov_method::minres, krylov_method::idrs}) {
        SCOPED_TRACE(name_of(m));
        auto o = this->options();
        o.method = m;
        const auto got = this->on_gpu(A, b, o);
        EXPECT_TRUE(got.report.converged());
        EXPECT_EQ(copies_in(got.report), m == krylov_method::direct ? 1U : 0U);
    }
    if constexpr (std::is_same_v<V, double>) {
        auto o = this->options();
        o.method = krylov_method::refine;
        const auto got = this->on_gpu(A, b, o);
        EXPECT_TRUE(got.report.converged());
        this->expect_solved(A, got.x, b);
    }
}

TYPED_TEST(solve_on_gpu, takes_columns_in_either_order) {
    using V = TypeParam;
    const std::size_t n = 930, count = 70;
    auto general = convected(laplace2d<V>(31, 30));
    for (const auto& A : {laplace2d<V>(31, 30), general}) {
        host_vector<V> b;
        for (unsigned c = 0; c < count; ++c)
            for (const V v : random_vector<V>(n, c + 1)) b.push_back(v);
        host_vector<V> by_rows(n * (count + 3), V(0));
        for (std::size_t c = 0; c < count; ++c)
            for (std::size_t i = 0; i < n; ++i) by_rows[i * (count + 3) + c] = b[c * n + i];
        const auto there = upload(this->on, A);
        const auto run = [&](const host_vector<V>& from, std::size_t stride, storage_order order) {
            const auto rhs = from_host(this->on, std::span<const V>(from));
            auto x = from_host(this->on, std::span<const V>(host_vector<V>(from.size(), V(0))));
            const auto reports =
                solve<V>(this->on, view(there), in_columns<V, gpu>{rhs, stride, count, order},
                         out_columns<V, gpu>{x, stride, count, order}, this->options());
            EXPECT_EQ(reports.size(), count);
            for (const auto& r : reports) EXPECT_TRUE(r.converged());
            return to_host<V>(this->on, x);
        };
        const auto x = run(b, n, storage_order::column_major);
        const auto rows = run(by_rows, count + 3, storage_order::row_major);
        for (std::size_t c = 0; c < count; ++c) {
            for (std::size_t i = 0; i < n; ++i)
                ASSERT_EQ(x[c * n + i], rows[i * (count + 3) + c]) << c;
            this->expect_solved(
                A, host_vector<V>(x.begin() + long(c * n), x.begin() + long((c + 1) * n)),
                host_vector<V>(b.begin() + long(c * n), b.begin() + long((c + 1) * n)));
        }
    }
}

TYPED_TEST(solve_on_gpu, finds_nodes_and_takes_modes) {
    using V = TypeParam;
    const auto A = elasticity3d<V>(9, 8, 7, 0.3);
    const auto b = random_vector<V>(std::size_t(A.shape.rows), 1);
    auto o = this->options();
    const auto got = this->on_gpu(A, b, o), want = this->from_cpu(A, b, o);
    EXPECT_TRUE(got.report.converged());
    EXPECT_EQ(got.report.result().preconditioner, preconditioning::amg);
    EXPECT_NEAR(double(got.report.result().report.iterations),
                double(want.report.result().report.iterations), 2);
    const auto there = upload(this->on, A);
    EXPECT_EQ((nz::amg<V, gpu>(view(there), this->on, {.block = 0}).report().block), 3);
    o.near = rigid_body_modes<double>(elasticity3d_nodes(9, 8, 7));
    o.block = 3;
    EXPECT_LT(this->on_gpu(A, b, o).report.result().report.iterations,
              got.report.result().report.iterations);
}

TYPED_TEST(solve_on_gpu, refuses_what_does_not_fit) {
    using V = TypeParam;
    const auto A = upload(this->on, laplace2d<V>(20, 20));
    const auto b = from_host(this->on, std::span<const V>(random_vector<V>(400, 1)));
    device_array<V> x(this->on, 400), shorter(this->on, 399);
    EXPECT_THROW(solve<V>(this->on, view(A), b, shorter), argument_error);
    EXPECT_THROW(solve<V>(this->on, view(A), shorter, x), argument_error);
    EXPECT_THROW(
        solve<V>(this->on, view(A), in_columns<V, gpu>{b, 400, 1}, out_columns<V, gpu>{x, 400, 2}),
        argument_error);
    auto wrong = laplace2d<V>(20, 20);
    wrong.col_ind[7] = 400;
    const auto outside = upload(this->on, wrong);
    EXPECT_THROW(solve<V>(this->on, view(outside), b, x), argument_error);
    const auto wide =
        upload(this->on, from_rule<V>(400, 401, [](index, index, double) { return true; }));
    EXPECT_THROW(solve<V>(this->on, view(wide), b, x), unsuitable);
    // A value that is no number: as from the CPU's memory.
    auto odd = laplace2d<V>(20, 20);
    odd.val[0] = std::numeric_limits<V>::quiet_NaN();
    EXPECT_THROW(this->on_gpu(odd, random_vector<V>(400, 1), {}), argument_error);
    auto rhs = random_vector<V>(400, 1);
    rhs[3] = std::numeric_limits<V>::quiet_NaN();
    EXPECT_FALSE(this->on_gpu(laplace2d<V>(20, 20), rhs, {}).report.converged());
    for (const auto& empty : {csr<V, host>{{0, 0}, {0}, {}, {}}, laplace2d<V>(1, 1)})
        EXPECT_TRUE(this->on_gpu(empty, host_vector<V>(std::size_t(empty.shape.rows), V(1)), {})
                        .report.converged());
    auto singular = laplace2d<V>(6, 6);
    std::fill(singular.val.begin(), singular.val.begin() + 12, V(0));
    const auto none = this->on_gpu(singular, random_vector<V>(36, 1), this->options());
    const auto want = this->from_cpu(singular, random_vector<V>(36, 1), this->options());
    EXPECT_EQ(none.report.converged(), want.report.converged());
    EXPECT_EQ(none.report.advice, want.report.advice);
}

/// A solver made of either memory, given vectors and values of either.
TYPED_TEST(solve_on_gpu, is_kept_over_a_sequence) {
    using V = TypeParam;
    auto A = laplace2d<V>(60, 50);
    const std::size_t n = 3000;
    const auto b = random_vector<V>(n, 1);
    const auto b_on_gpu = from_host(this->on, std::span<const V>(b));
    auto there = upload(this->on, A);
    solver<V, gpu> made_there(this->on, view(there), this->options());
    solver<V, gpu> made_here(this->on, view(A), this->options());
    host_vector<V> before;
    for (int step = 0; step < 4; ++step) {
        SCOPED_TRACE(step);
        for (std::size_t k = 0; k < A.val.size(); ++k) A.val[k] *= V(step % 2 == 0 ? 2 : -1);
        there = upload(this->on, A);
        if (step % 2 == 0)
            made_there.take_values(view(there)), made_here.take_values(view(there));
        else
            made_there.take_values(view(A)), made_here.take_values(view(A));
        for (auto* s : {&made_there, &made_here}) {
            host_vector<V> x(n, V(0));
            const auto report = s->solve(b, x);
            EXPECT_TRUE(report.converged());
            this->expect_solved(A, x, b);
            auto x_on_gpu = from_host(this->on, std::span<const V>(host_vector<V>(n, V(0))));
            const auto again = s->solve(b_on_gpu, x_on_gpu);
            EXPECT_TRUE(again.converged());
            EXPECT_EQ(to_host<V>(this->on, x_on_gpu), x);  // wherever vectors lie
            EXPECT_LT(again.result().preconditioner_s, 1e-3);
        }
    }
    auto other = laplace2d<V>(60, 50);
    other.col_ind[2] = 5;
    const auto other_there = upload(this->on, other);
    EXPECT_THROW(made_there.take_values(view(other_there)), argument_error);
    EXPECT_THROW(made_there.take_values(view(other)), argument_error);
    const auto smaller = upload(this->on, laplace2d<V>(50, 50));
    EXPECT_THROW(made_there.take_values(view(smaller)), argument_error);
    auto x = from_host(this->on, std::span<const V>(host_vector<V>(n, V(0))));
    // What was refused has changed nothing.
    EXPECT_TRUE(made_there.solve(b_on_gpu, x).converged());
    this->expect_solved(A, to_host<V>(this->on, x), b);
    EXPECT_THROW(made_there.solve(smaller.val, x), argument_error);
}

}  // namespace
}  // namespace nz::test
