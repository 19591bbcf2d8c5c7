// BiCGSTAB and GMRES: manufactured solutions of systems that are not symmetric, and every way to
// end.
#include "nonzero/solve/krylov/krylov.hpp"

#include "nonzero/io/io.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

struct by_bicgstab {
    template <class V, class B, class... Args>
    static solve_report solve(const solve_options& o, const Args&... args) {
        return bicgstab<V, B>(args..., o);
    }
};
struct by_gmres {
    template <class V, class B, class... Args>
    static solve_report solve(const solve_options& o, const Args&... args) {
        gmres_options all;
        static_cast<solve_options&>(all) = o;
        return gmres<V, B>(args..., all);
    }
};

template <class T>
using krylov = solver_test<T>;
TYPED_TEST_SUITE(krylov, everywhere);

template <class T, class V = typename T::V>
struct solved {
    std::string method;
    host_vector<V> x;
    solve_report report;
};
/// By both methods, from zero; with M where it is given.
template <class T, class V>
std::vector<solved<T>> solve(const solver_test<T>& on, const csr<V, host>& A,
                             const host_vector<V>& b, const solve_options& o,
                             const linear_operator<V, typename T::B>* M = nullptr) {
    using B = typename T::B;
    const auto op = on.operator_of(A);
    const auto b_on_device = on.to_backend(b);
    std::vector<solved<T>> all;
    const auto run = [&](const char* name, auto method) {
        auto x = on.to_backend(host_vector<V>(b.size(), V(0)));
        const out<V, B> to = x;
        const in<V, B> from = b_on_device;
        auto report = M == nullptr ? method.template solve<V, B>(o, on.on_, *op, from, to)
                                   : method.template solve<V, B>(o, on.on_, *op, *M, from, to);
        all.push_back({name, on.here(x), std::move(report)});
    };
    run("bicgstab", by_bicgstab{}), run("gmres", by_gmres{});
    return all;
}

TYPED_TEST(krylov, find_manufactured_solutions) {
    using V = typename TypeParam::V;
    for (const auto& s : general_systems<V>())
        for (const auto& [method, x, report] : solve(*this, s.A, s.b, {.tol = this->tol})) {
            const auto r = residual_of(s.A, x, s.b);
            EXPECT_TRUE(report.converged) << method << ", " << s.name << ": " << report.why;
            EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << method << ", " << s.name;
            EXPECT_EQ(report.history.size(), std::size_t(report.iterations) + 1);
        }
}

TYPED_TEST(krylov, definite_systems_are_no_exception) {
    using V = typename TypeParam::V;
    for (const auto& s : definite_systems<V>())
        for (const auto& [method, x, report] : solve(*this, s.A, s.b, {.tol = this->tol})) {
            const auto r = residual_of(s.A, x, s.b);
            EXPECT_EQ(report.converged, r.norm <= this->tol * double(r.rhs) + r.rounding)
                << method << ", " << s.name << ": " << report.why;
        }
}

TYPED_TEST(krylov, precondition) {
    using V = typename TypeParam::V;
    auto s = manufactured<V>("", convected(laplace2d<V>(20, 20)));
    // Rows of different weight are what Jacobi is for.
    for (index i = 0; i < 400; ++i)
        for (auto k = std::size_t(s.A.row_ptr[std::size_t(i)]);
             k < std::size_t(s.A.row_ptr[std::size_t(i) + 1]); ++k)
            s.A.val[k] *= real<V>(1 + i % 50);
    s = manufactured<V>("", s.A);
    const auto M = jacobi(this->on_, view(s.A));
    const auto plain = solve(*this, s.A, s.b, {.tol = this->tol});
    const auto with = solve(*this, s.A, s.b, {.tol = this->tol}, M.get());
    for (std::size_t k = 0; k < with.size(); ++k) {
        const auto r = residual_of(s.A, with[k].x, s.b);
        EXPECT_TRUE(with[k].report.converged) << with[k].method << ": " << with[k].report.why;
        EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << with[k].method;
        EXPECT_LT(with[k].report.iterations, plain[k].report.iterations) << with[k].method;
    }
}

TYPED_TEST(krylov, end_where_they_must) {
    using V = typename TypeParam::V;
    const auto A = convected(laplace2d<V>(20, 20));
    const host_vector<V> b(400, V(1));
    for (const auto& s : solve(*this, A, b, {.tol = this->tol, .max_iter = 4})) {
        EXPECT_FALSE(s.report.converged) << s.method;
        EXPECT_EQ(s.report.iterations, 4) << s.method;
        EXPECT_EQ(s.report.why, "max_iter iterations were spent") << s.method;
    }
    const auto stop = [](std::int64_t k, double) { return k < 3; };
    for (const auto& s : solve(*this, A, b, {.tol = this->tol, .monitor = stop})) {
        EXPECT_FALSE(s.report.converged) << s.method;
        EXPECT_EQ(s.report.why, "stopped by the caller") << s.method;
    }
    for (const auto& s : solve(*this, A, host_vector<V>(400, V(0)), {})) {
        EXPECT_TRUE(s.report.converged) << s.method;
        EXPECT_EQ(s.x, host_vector<V>(400, V(0))) << s.method;
    }
    for (const auto& s : solve(*this, csr<V, host>{{0, 0}, {0}, {}, {}}, {}, {}))
        EXPECT_TRUE(s.report.converged) << s.method;
    auto with_nan = b;
    with_nan[7] = std::numeric_limits<real<V>>::quiet_NaN();
    for (const auto& s : solve(*this, A, with_nan, {}))
        EXPECT_EQ(s.report.why, "b, or b - A x at the start, is not finite") << s.method;
}

/// A rotation by a quarter turn: (u, A u) is zero for every real u.
TYPED_TEST(krylov, name_a_breakdown) {
    using V = typename TypeParam::V;
    const std::vector<index> row{0, 1}, col{1, 0};
    const host_vector<V> val{V(1), V(-1)};
    const auto A = assemble<V>({2, 2}, row, col, val);
    const auto all = solve(*this, A, {V(1), V(1)}, {.tol = this->tol});
    EXPECT_FALSE(all[0].report.converged);
    EXPECT_NE(all[0].report.why.find("broke down"), std::string::npos) << all[0].report.why;
    EXPECT_TRUE(all[1].report.converged) << all[1].report.why;
}

TYPED_TEST(krylov, know_a_singular_matrix) {
    using V = typename TypeParam::V;
    const std::vector<index> diagonal{0, 1};
    const host_vector<V> val{V(1), V(0)};
    const auto A = assemble<V>({2, 2}, diagonal, diagonal, val);
    for (const auto& s : solve(*this, A, {V(1), V(1)}, {.tol = this->tol, .max_iter = 50}))
        EXPECT_FALSE(s.report.converged) << s.method;
}

TYPED_TEST(krylov, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", convected(laplace3d<V>(20, 21, 22)));
    const auto one = solve(*this, s.A, s.b, {.tol = this->tol});
    const auto two = solve(*this, s.A, s.b, {.tol = this->tol});
    for (std::size_t k = 0; k < one.size(); ++k) {
        EXPECT_EQ(one[k].x, two[k].x) << one[k].method;
        EXPECT_EQ(one[k].report.history, two[k].report.history) << one[k].method;
    }
}

TEST(krylov_on_files, solve_memplus) {
    const auto A = read<double>(NZ_SOURCE_DIR "/matrices/memplus.mtx.gz");
    const auto s = manufactured<double>("memplus", A);
    const auto op = find_method<double>("csr.merge").on_cpu(cpu{}, view(s.A));
    const auto M = jacobi(cpu{}, view(s.A));
    host_vector<double> x(s.b.size(), 0.0);
    const auto report = bicgstab<double, cpu>(cpu{}, *op, *M, s.b, x, {.tol = 1e-8});
    EXPECT_TRUE(report.converged) << report.why;
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 1e-8 * double(r.rhs) + r.rounding);
}

TEST(gmres_options, are_checked) {
    const auto A = laplace2d<double>(3, 3);
    const auto op = find_method<double>("csr.merge").on_cpu(cpu{}, view(A));
    host_vector<double> b(9, 1.0), x(9, 0.0);
    gmres_options o;
    o.restart = 0;
    EXPECT_THROW((gmres<double, cpu>(cpu{}, *op, b, x, o)), argument_error);
    // No restart is needed in nine dimensions.
    o.restart = 9, o.tol = 1e-12;
    const auto report = gmres<double, cpu>(cpu{}, *op, b, x, o);
    EXPECT_TRUE(report.converged);
    EXPECT_LE(report.iterations, 9);
}

}  // namespace
}  // namespace nz::test
