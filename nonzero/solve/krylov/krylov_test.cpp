// BiCGSTAB, GMRES and IDR(s): manufactured solutions of systems that are not symmetric, and every
// way to end.
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/matrix/build.hpp"

#include <chrono>
#include <thread>

#include "nonzero/io/io.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/idrs.hpp"
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
struct by_idrs {
    template <class V, class B, class... Args>
    static solve_report solve(const solve_options& o, const Args&... args) {
        return idrs<V, B>(args..., o);
    }
};
template <bool flexible>
struct by_gmres {
    template <class V, class B, class... Args>
    static solve_report solve(const solve_options& o, const Args&... args) {
        gmres_options all;
        static_cast<solve_options&>(all) = o;
        all.flexible = flexible;
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
/// By all methods, from zero; with M where it is given.
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
    run("bicgstab", by_bicgstab{}), run("gmres", by_gmres<false>{});
    run("idrs", by_idrs{}), run("fgmres", by_gmres<true>{});
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
    const auto op = build(find_method<double>("csr.merge"), cpu{}, view(s.A));
    const auto M = jacobi(cpu{}, view(s.A));
    host_vector<double> x(s.b.size(), 0.0);
    const auto report = bicgstab<double, cpu>(cpu{}, *op, *M, s.b, x, {.tol = 1e-8});
    EXPECT_TRUE(report.converged) << report.why;
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 1e-8 * double(r.rhs) + r.rounding);
}

TEST(gmres_options, are_checked) {
    const auto A = laplace2d<double>(3, 3);
    const auto op = build(find_method<double>("csr.merge"), cpu{}, view(A));
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

/// The permutation that moves every element one place on: no less than n directions solve it.
TYPED_TEST(krylov, directions_grow_where_gmres_stagnates) {
    using V = typename TypeParam::V;
    for (const index n : {31, 200, 700}) {
        std::vector<index> row(static_cast<std::size_t>(n)), col(row.size());
        for (index i = 0; i < n; ++i) row[std::size_t(i)] = i, col[std::size_t(i)] = (i + 1) % n;
        const auto A = assemble<V>({n, n}, row, col, host_vector<V>(row.size(), V(1)));
        host_vector<V> b(row.size(), V(0));
        b[0] = V(1);
        for (const auto& of : solve(*this, A, b, {.tol = this->tol})) {
            if (!of.method.ends_with("gmres")) continue;
            EXPECT_TRUE(of.report.converged) << n << ": " << of.report.why;
            EXPECT_LE(residual_of(A, of.x, b).norm, this->tol) << n;
        }
    }
    // Of a singular matrix: no number of directions is enough, and it ends.
    const auto A = shifted(convected(laplace2d<V>(9, 9)), real<V>(4));
    auto b = host_vector<V>(81, V(1));
    const auto report = solve(*this, A, b, {.tol = 1e-30}).back().report;
    EXPECT_FALSE(report.converged);
    EXPECT_LT(report.iterations, 10000);
}

/// A few iterations of gmres from zero: another polynomial for every vector.
TYPED_TEST(krylov, flexible_gmres_takes_an_iterative_solver_for_its_preconditioner) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("", rotated(convected(laplace2d<V>(40, 31))));
    const index n = s.A.shape.rows;
    const auto op = this->operator_of(s.A);
    const auto M = make_operator<V>(this->on_, {n, n}, [&](in<V, B> x, out<V, B> y) {
        gmres_options few;
        few.tol = 0, few.max_iter = 8;
        vector_space<V, B>(this->on_, n).fill(V(0), y);
        (void)gmres<V, B>(this->on_, *op, x, y, few);
    });
    const auto all = solve(*this, s.A, s.b, {.tol = this->tol, .max_iter = 40}, &M);
    const auto plain = solve(*this, s.A, s.b, {.tol = this->tol});
    const auto& flexible = all.back();
    EXPECT_TRUE(flexible.report.converged) << flexible.report.why;
    const auto r = residual_of(s.A, flexible.x, s.b);
    EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
    EXPECT_LE(4 * flexible.report.iterations, plain.back().report.iterations);
    // The residual that it carries along is that of x, which is not so of gmres here.
    EXPECT_NEAR(flexible.report.history.back(), flexible.report.relative_residual(),
                0.01 * this->tol);
    EXPECT_GT(all[1].report.iterations, flexible.report.iterations);
    // With the same M in every iteration both are the same method.
    const auto D = jacobi(this->on_, view(s.A));
    const auto with = solve(*this, s.A, s.b, {.tol = this->tol}, D.get());
    EXPECT_NEAR(double(with.back().report.iterations), double(with[1].report.iterations),
                0.02 * double(with[1].report.iterations) + 1);
}

/// In exact arithmetic n + n / s products are enough for any matrix of n rows.
TYPED_TEST(krylov, idrs_ends_after_as_many_products_as_its_theory_allows) {
    using V = typename TypeParam::V;
    if constexpr (sizeof(real<V>) == sizeof(double))
        for (const index n : {4, 7, 10}) {
            const auto s = manufactured<V>("", rotated(convected(laplace2d<V>(n, n))));
            const auto report = solve(*this, s.A, s.b, {.tol = this->tol})[2].report;
            EXPECT_TRUE(report.converged) << n << ": " << report.why;
            EXPECT_LE(report.iterations, n * n + (n * n + 3) / 4) << n;
        }
}

/// Makes of a vector what has nothing to do with it.
template <class T>
auto rubbish(const solver_test<T>& on, index n, double size) {
    using V = typename T::V;
    using B = typename T::B;
    const auto numbers = random_vector<V>(std::size_t(n), 4);
    return make_operator<V>(on.on_, {n, n}, [numbers, size, on = on.on_](in<V, B> x, out<V, B> y) {
        auto host = to_host<V>(on, x);
        for (std::size_t i = 0; i < host.size(); ++i)
            host[i] = V(real<V>(size)) * numbers[i] * V(std::abs(host[(i * 7) % host.size()]));
        const auto there = from_host(on, std::span<const V>(host));
        vector_space<V, B>(on, std::int64_t(host.size())).copy(there, y);
    });
}

TYPED_TEST(krylov, x_is_never_worse_than_the_guess) {
    using V = typename TypeParam::V;
    if constexpr (std::is_same_v<typename TypeParam::B, cpu>) {
        for (const auto& s : general_systems<V>())
            for (const double size : {1e-6, 1.0, 1e9}) {
                const auto M = rubbish(*this, s.A.shape.rows, size);
                for (const std::int64_t most : {1, 7, 300}) {
                    const auto o = solve_options{.tol = this->tol, .max_iter = most};
                    for (const auto& of : solve(*this, s.A, s.b, o, &M)) {
                        const auto r = residual_of(s.A, of.x, s.b);
                        EXPECT_LE(r.norm, r.rhs + 2 * r.rounding) << of.method << ", " << s.name;
                        // Beside A x, the solver's sums of n squares are rounded.
                        EXPECT_NEAR(of.report.relative_residual(), double(r.norm / r.rhs),
                                    double(2 * r.rounding / r.rhs) +
                                        0x1p-52 * double(s.b.size() * r.norm / r.rhs))
                            << of.method << ", " << s.name;
                    }
                }
            }
    }
}

/// Eigenvalues all around zero: residuals of BiCGSTAB grow beyond every bound.
TYPED_TEST(krylov, bicgstab_ends_where_it_diverges) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    int diverged = 0;
    for (std::uint64_t seed = 1; seed < 40 && diverged < 2; ++seed) {
        const auto A = random<V>(400, 400, 6, seed);
        const host_vector<V> b(400, V(1));
        const auto op = this->operator_of(A);
        const auto b_there = this->to_backend(b);
        auto x = this->to_backend(host_vector<V>(400, V(0)));
        const auto report =
            bicgstab<V, B>(this->on_, *op, b_there, x, {.tol = this->tol, .max_iter = 3000});
        if (report.why.find("diverged") == std::string::npos) continue;
        ++diverged;
        EXPECT_LT(report.iterations, 3000);
        const auto least = *std::ranges::min_element(report.history);
        EXPECT_GT(report.history.back(), 0.9e6 * least);
        EXPECT_LE(report.relative_residual(), 1);
        const auto r = residual_of(A, this->here(x), b);
        EXPECT_NEAR(report.relative_residual(), double(r.norm / r.rhs),
                    double(2 * r.rounding / r.rhs));
    }
    if constexpr (!is_complex<V>) {
        EXPECT_GT(diverged, 0);
    }
}

TYPED_TEST(krylov, time_is_bounded) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = manufactured<V>("", rotated(convected(laplace2d<V>(31, 17))));
    const auto op = this->operator_of(s.A);
    const index n = s.A.shape.rows;
    const auto slow = make_operator<V>(this->on_, {n, n}, [&](in<V, B> x, out<V, B> y) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        op->apply(V(1), x, V(0), y);
    });
    const auto b = this->to_backend(s.b);
    const auto run = [&](auto method, double seconds) {
        auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
        solve_options o{.tol = 1e-30, .max_seconds = seconds, .graph = false};
        const out<V, B> to = x;
        const in<V, B> from = b;
        const auto start = steady_clock::now();
        const auto report = method.template solve<V, B>(o, this->on_, slow, from, to);
        EXPECT_LT(seconds_since(start), seconds + 10);
        EXPECT_EQ(report.status, status::max_seconds);
        EXPECT_FALSE(report.converged);
        const auto r = residual_of(s.A, this->here(x), s.b);
        EXPECT_NEAR(report.relative_residual(), double(r.norm / r.rhs),
                    double(2 * r.rounding / r.rhs));
        EXPECT_LE(report.relative_residual(), 1);
        return report.iterations;
    };
    for (const double seconds : {0.0, 0.03}) {
        for (const auto iterations : {run(by_bicgstab{}, seconds), run(by_idrs{}, seconds),
                                      run(by_gmres<false>{}, seconds)}) {
            EXPECT_EQ(iterations > 0, seconds > 0);
            // The clock is looked at after a batch, which may be as long as all before it.
            EXPECT_LE(iterations, 1 + 2 * seconds / 0.002);
        }
    }
    solve_options wrong{.max_seconds = -1};
    auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
    EXPECT_THROW((bicgstab<V, B>(this->on_, slow, b, x, wrong)), argument_error);
}

}  // namespace
}  // namespace nz::test
