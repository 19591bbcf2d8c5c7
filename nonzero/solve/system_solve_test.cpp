// nz::solve: what is chosen, what is tried when that fails, and that every attempt is told.
#include <gtest/gtest.h>

#include <cmath>

#include "nonzero/solve/solve.hpp"
#include "nonzero/solve/solver.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

using enum krylov_method;
using enum preconditioning;

template <class T>
using automatic_solve = solver_test<T>;
TYPED_TEST_SUITE(automatic_solve, everywhere);

template <class V>
struct solved {
    host_vector<V> x;
    system_report report;
    [[nodiscard]] const system_report::attempt& first() const { return report.attempts.front(); }
};
template <class T, class V>
solved<V> solve(const solver_test<T>& on, const csr<V, host>& A, const host_vector<V>& b,
                const system_options& o) {
    host_vector<V> x(b.size(), V(0));
    auto report = nz::solve<V, typename T::B>(on.on_, view(A), b, x, o);
    return {std::move(x), std::move(report)};
}
/// Whether probes come first where A is small.
template <class T>
constexpr bool probes = std::is_same_v<typename T::B, cpu>;

template <class T>
system_options to(double tol, std::int64_t max_iter = 10000) {
    system_options o;
    o.tol = tol, o.max_iter = max_iter, o.iterative = true;
    return o;
}

/// It says that it converged, and b - A x says so as well.
template <class V>
void expect_solution(const linear_system<V>& s, const solved<V>& of, double tol) {
    EXPECT_TRUE(of.report.converged()) << s.name << ": " << of.report.result().report.why;
    const auto r = residual_of(s.A, of.x, s.b);
    EXPECT_LE(r.norm, tol * double(r.rhs) + r.rounding) << s.name;
}

TYPED_TEST(automatic_solve, chooses_what_suits) {
    using V = typename TypeParam::V;
    const auto o = to<V>(this->tol);
    for (const auto& s : definite_systems<V>()) {
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        EXPECT_EQ(all.first().method, cg) << s.name;
        EXPECT_EQ(all.first().preconditioner, probes<TypeParam> ? ic : amg) << s.name;
        EXPECT_EQ(all.report.attempts.size(), 1) << s.name;
        EXPECT_FALSE(all.report.negated) << s.name;

        auto minus = s.A;
        for (V& v : minus.val) v = -v;
        const auto negated = solve(*this, minus, s.b, o);
        EXPECT_TRUE(negated.report.negated) << s.name;
        for (std::size_t i = 0; i < s.b.size(); ++i) ASSERT_EQ(negated.x[i], -all.x[i]) << s.name;
    }
    for (const auto& s : general_systems<V>()) {
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        EXPECT_EQ(all.first().method, s.name == "1x1" ? cg : bicgstab) << s.name;
    }
    for (const auto& s : indefinite_systems<V>()) {
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        EXPECT_EQ(all.report.result().method, s.name == "negative" ? cg : minres) << s.name;
    }
}

/// Symmetric with a positive diagonal, but indefinite: only the iterations see that.
TYPED_TEST(automatic_solve, goes_on_where_cg_finds_that_the_matrix_is_not_definite) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", rotated(shifted(laplace2d<V>(21, 17), real<V>(1.7))));
    const auto all = solve(*this, s.A, s.b, to<V>(this->tol));
    expect_solution(s, all, this->tol);
    const auto& attempts = all.report.attempts;
    ASSERT_GE(attempts.size(), 2);
    // amg of such a matrix may fail first, not definite either, and a probe's factors before.
    EXPECT_LE(attempts.size(), probes<TypeParam> ? 4 : 3);
    for (std::size_t k = 0; k + 1 < attempts.size(); ++k) EXPECT_EQ(attempts[k].method, cg);
    const std::string& why = attempts[attempts.size() - 2].report.why;
    EXPECT_NE(why.find("A is not positive definite"), std::string::npos) << why;
    EXPECT_EQ(attempts.back().method, minres);
    EXPECT_EQ(all.report.best, attempts.size() - 1);

    // A method or a preconditioner that is asked for is used alone.
    auto alone = to<V>(this->tol);
    alone.method = cg;
    EXPECT_EQ(solve(*this, s.A, s.b, alone).report.attempts.size(), 1);
    EXPECT_FALSE(solve(*this, s.A, s.b, alone).report.converged());
    alone.method = {}, alone.preconditioner = none;
    EXPECT_EQ(solve(*this, s.A, s.b, alone).report.attempts.size(), 1);
}

/// A rotation by a quarter turn, on which BiCGSTAB breaks down.
TYPED_TEST(automatic_solve, goes_on_after_a_breakdown) {
    using V = typename TypeParam::V;
    const std::vector<index> row{0, 1}, col{1, 0};
    const host_vector<V> val{V(1), V(-1)};
    const linear_system<V> s{"", assemble<V>({2, 2}, row, col, val), {V(1), V(1)}};
    const auto all = solve(*this, s.A, s.b, to<V>(this->tol));
    expect_solution(s, all, this->tol);
    ASSERT_EQ(all.report.attempts.size(), 2);
    EXPECT_EQ(all.first().method, bicgstab);
    EXPECT_NE(all.first().report.why.find("broke down"), std::string::npos);
    EXPECT_EQ(all.report.result().method, gmres);
}

TYPED_TEST(automatic_solve, keeps_its_budget_and_the_best_x) {
    using V = typename TypeParam::V;
    // Rows that occur twice: A is singular, and b no product of it.
    std::vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(shifted(laplace2d<V>(15, 15), real<V>(1.3))), 0, 225,
                   [&](index i, index j, V v) {
                       for (const index di : {0, 225})
                           for (const index dj : {0, 225})
                               row.push_back(i + di), col.push_back(j + dj), val.push_back(v);
                   });
    const auto A = assemble<V>({450, 450}, row, col, val);
    host_vector<V> b(450);
    for (std::size_t i = 0; i < 450; ++i) b[i] = V(real<V>(1 + i % 4));
    for (const std::int64_t most : {1, 7, 60, 600}) {
        const auto all = solve(*this, A, b, to<V>(this->tol, most));
        const auto& attempts = all.report.attempts;
        EXPECT_FALSE(all.report.converged());
        EXPECT_GE(attempts.size(), 2);
        std::int64_t spent = 0;
        double least = 1;
        for (const auto& a : attempts) {
            spent += a.report.iterations;
            least = std::min(least, a.report.relative_residual());
            EXPECT_FALSE(a.report.why.empty());
        }
        EXPECT_LE(spent, 2 * most);
        EXPECT_EQ(all.report.result().report.relative_residual(), least);
        const auto r = residual_of(A, all.x, b);
        EXPECT_NEAR(double(r.norm / r.rhs), least, double(r.rounding / r.rhs));
    }
}

TYPED_TEST(automatic_solve, ends_where_rounding_errors_do_not_let_any_method_further) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", rotated(laplace2d<V>(40, 40)));
    const auto all = solve(*this, s.A, s.b, to<V>(1e-30));
    EXPECT_FALSE(all.report.converged());
    EXPECT_LE(all.report.attempts.size(), probes<TypeParam> ? 2 : 1);
    const auto r = residual_of(s.A, all.x, s.b);
    EXPECT_LE(r.norm, 10 * r.rounding);
}

TYPED_TEST(automatic_solve, is_stopped_by_its_caller_for_good) {
    using V = typename TypeParam::V;
    auto o = to<V>(this->tol);
    o.monitor = [](std::int64_t, double) { return false; };
    const auto s = manufactured<V>("", rotated(shifted(laplace2d<V>(21, 17), real<V>(1.21))));
    const auto all = solve(*this, s.A, s.b, o);
    EXPECT_FALSE(all.report.converged());
    EXPECT_EQ(all.report.attempts.back().report.status, status::stopped_by_caller);
}

TYPED_TEST(automatic_solve, takes_right_hand_sides_of_every_size) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(15, 15));
    for (const int k : {-90, 90}) {
        linear_system<V> s{"", A, host_vector<V>(225, V(std::ldexp(real<V>(1), k)))};
        expect_solution(s, solve(*this, s.A, s.b, to<V>(this->tol)), this->tol);
    }
    const auto zero = solve(*this, A, host_vector<V>(225, V(0)), to<V>(this->tol));
    EXPECT_TRUE(zero.report.converged());
    EXPECT_EQ(zero.x, host_vector<V>(225, V(0)));
    EXPECT_TRUE(solve(*this, csr<V, host>{{0, 0}, {0}, {}, {}}, {}, to<V>(1)).report.converged());
}

/// Definite, indefinite and general matrices times 2^k, whose squares no number holds.
TYPED_TEST(automatic_solve, takes_matrices_of_every_size) {
    using V = typename TypeParam::V;
    const auto powers = std::is_same_v<real<V>, float> ? std::vector{-100, -60, 60, 100}
                                                       : std::vector{-1000, -520, 520, 1000};
    const auto o = to<V>(this->tol);
    for (auto systems : {definite_systems<V>(), indefinite_systems<V>(), general_systems<V>()})
        for (auto& s : systems) {
            const auto plain = s.A;
            const auto b = s.b;
            for (const int k : powers)
                for (const int of_b : {0, k}) {
                    s.A = plain, s.b = b;
                    for (V& v : s.A.val) v *= V(std::ldexp(real<V>(1), k));
                    for (V& v : s.b) v *= V(std::ldexp(real<V>(1), of_b));
                    expect_solution(s, solve(*this, s.A, s.b, o), this->tol);
                    if (this->HasFailure()) FAIL() << s.name << ", 2^" << k << ", b 2^" << of_b;
                }
        }
}

/// The report names the obstacles, and what to try next.
TYPED_TEST(automatic_solve, advises_where_nothing_converged) {
    using V = typename TypeParam::V;
    const auto advice_of = [&](const csr<V, host>& A, const system_options& o) {
        std::string all;
        const host_vector<V> b(std::size_t(A.shape.rows), V(1));
        for (const auto& line : solve(*this, A, b, o).report.advice) all += line + "\n";
        return all;
    };
    const auto tells = [](const std::string& advice, const std::string& what) {
        return advice.find(what) != std::string::npos;
    };
    const auto A = laplace2d<V>(40, 40);
    EXPECT_EQ(advice_of(A, to<V>(this->tol)), "");
    EXPECT_TRUE(tells(advice_of(A, to<V>(1e-2 * this->tol, 2)), "allow more than 2 iterations"));
    EXPECT_TRUE(tells(advice_of(A, to<V>(1e-30)), "ask for a larger tol"));
    auto in_no_time = to<V>(this->tol);
    in_no_time.max_seconds = 0;
    EXPECT_TRUE(tells(advice_of(A, in_no_time), "allow more than 0 seconds"));
    const auto hole = kkt(laplace2d<V>(12, 11), 40);
    EXPECT_TRUE(tells(advice_of(hole, to<V>(this->tol, 2)),
                      "diagonal is zero in 40 of 172 rows, first in row 132"));
    auto steep = convected(A);
    for (offset k = steep.row_ptr[7]; k < steep.row_ptr[8]; ++k)
        steep.val[std::size_t(k)] *= V(real<V>(1e7));
    EXPECT_TRUE(tells(advice_of(steep, to<V>(this->tol, 1)), "rows differ by a factor of 1e+07"));
    auto alone = to<V>(this->tol, 2);
    alone.preconditioner = none;
    EXPECT_TRUE(tells(advice_of(A, alone), "ask for no method and no preconditioner"));
}

TYPED_TEST(automatic_solve, refuses_what_does_not_suit) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto general = convected(laplace2d<V>(5, 5));
    const host_vector<V> b(25, V(1));
    const auto refused = [&](const csr<V, host>& A, auto method, auto preconditioner,
                             const std::string& why) {
        system_options o;
        o.method = method, o.preconditioner = preconditioner;
        try {
            (void)solve(*this, A, host_vector<V>(std::size_t(A.shape.rows), V(1)), o);
            FAIL() << why;
        } catch (const unsuitable& e) {
            EXPECT_NE(std::string(e.what()).find(why), std::string::npos) << e.what();
        }
    };
    const std::optional<krylov_method> any;
    const std::optional<preconditioning> some;
    refused(general, std::optional(cg), some, "cg: A is not");
    refused(general, std::optional(minres), some, "minres: A is not symmetric");
    refused(general, any, std::optional(amg), "amg: A is not");
    const auto hole = kkt(laplace2d<V>(5, 5), 3);
    refused(hole, std::optional(gmres), std::optional(jacobi),
            "jacobi: the diagonal is zero in row 25");
    refused(random<V>(4, 5, 2, 1), any, some, "A is 4 x 5, not square");

    host_vector<V> x(25), too_short(24);
    const auto A = laplace2d<V>(5, 5);
    EXPECT_THROW((nz::solve<V, B>(this->on_, view(A), b, too_short)), argument_error);
    EXPECT_THROW((nz::solve<V, B>(this->on_, view(A), too_short, x)), argument_error);
    EXPECT_THROW((solve(*this, A, b, to<V>(-1))), argument_error);
    auto malformed = A;
    malformed.col_ind[3] = 99;
    EXPECT_THROW((solve(*this, malformed, b, {})), argument_error);
}

/// Matrices without a diagonal: no iteration gets far; small ones are the direct solver's at once.
template <class V>
linear_system<V> turned() {
    const auto grid = convected(laplace2d<V>(23, 19));
    const index n = grid.shape.rows;
    std::vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(grid), 0, n, [&](index i, index j, V v) {
        row.push_back((i + n / 2) % n), col.push_back(j), val.push_back(v);
    });
    return manufactured<V>("turned", assemble<V>({n, n}, row, col, val));
}

TYPED_TEST(automatic_solve, takes_the_direct_solver_where_it_is_cheap) {
    using V = typename TypeParam::V;
    system_options o;
    o.tol = this->tol;
    const auto zero_diagonal = turned<V>();
    const auto by_factors = solve(*this, zero_diagonal.A, zero_diagonal.b, o);
    expect_solution(zero_diagonal, by_factors, this->tol);
    EXPECT_EQ(by_factors.report.attempts.size(), 1);
    EXPECT_EQ(by_factors.first().method, direct);
    for (const auto& s : general_systems<V>()) {
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        if (s.name == "1x1") continue;
        // On a CPU behind probes, where these have not converged.
        for (const auto& a : all.report.attempts)
            EXPECT_TRUE(a.method == direct || (a.method == bicgstab && probes<TypeParam>))
                << s.name << " by " << name_of(a.method);
    }
    for (const auto& s : definite_systems<V>())  // keep their way, unless it is asked for
        EXPECT_EQ(solve(*this, s.A, s.b, o).first().method, cg) << s.name;
    o.method = direct;
    for (const auto& s : definite_systems<V>()) {
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        EXPECT_LE(all.first().report.iterations, 3) << s.name;
    }
}

TYPED_TEST(automatic_solve, tells_what_decided_and_what_was_predicted) {
    using V = typename TypeParam::V;
    const auto tells = [](const system_report& r, std::size_t k, const char* what) {
        return k < r.reasons.size() && r.reasons[k].find(what) != std::string::npos;
    };
    system_options o;
    o.tol = this->tol;
    const auto s = turned<V>();
    const auto by_factors = solve(*this, s.A, s.b, o).report;
    EXPECT_TRUE(tells(by_factors, 0, "A has 437 rows"));
    EXPECT_TRUE(tells(by_factors, 1, "bicgstab first"));
    EXPECT_TRUE(tells(by_factors, 2, "the diagonal is zero in row 0: no jacobi"));
    EXPECT_TRUE(tells(by_factors, 3, "it comes first"));
    const auto& a = by_factors.result();
    ASSERT_TRUE(a.forecast && a.factors);
    EXPECT_EQ(a.predicted_s, a.forecast->seconds);
    EXPECT_FALSE(a.forecast->is_cholesky);
    EXPECT_GE(a.factors->entries, s.A.shape.rows);
    EXPECT_GT(a.factors->fill, 1);

    const auto grid = manufactured<V>("", rotated(laplace2d<V>(23, 19)));
    const auto by_cg = solve(*this, grid.A, grid.b, o).report;
    EXPECT_TRUE(tells(by_cg, 1, "its diagonal positive: cg first"));
    EXPECT_EQ(tells(by_cg, 2, "while their residuals fall fast enough: cg with ic, 60 iterations"),
              probes<TypeParam>);
    EXPECT_GT(by_cg.result().predicted_s, 0);
    EXPECT_FALSE(by_cg.result().forecast);
    o.preconditioner = ic;
    const auto by_ic = solve(*this, grid.A, grid.b, o).report;
    ASSERT_TRUE(by_ic.result().factors);
    EXPECT_GT(by_ic.result().factors->entries, 0);
    o.preconditioner = {}, o.method = direct;
    const auto by_half = solve(*this, grid.A, grid.b, o).report;
    ASSERT_TRUE(by_half.result().forecast && by_half.result().factors);
    EXPECT_TRUE(by_half.result().forecast->is_cholesky);
    EXPECT_EQ(by_half.result().forecast->entries, by_half.result().factors->entries);
}

TYPED_TEST(automatic_solve, refuses_a_direct_solver_that_is_missing) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", convected(laplace2d<V>(13, 17)));
    for (const auto by : {factor_forecast::libraries::cholmod, factor_forecast::libraries::umfpack,
                          factor_forecast::libraries::pardiso, factor_forecast::libraries::klu}) {
        system_options o;
        o.tol = this->tol, o.direct_solver = by, o.method = direct;
        try {
            const auto all = solve(*this, s.A, s.b, o);
            expect_solution(s, all, this->tol);
            EXPECT_EQ(all.first().forecast->library, by);
        } catch (const unavailable& e) {
            EXPECT_NE(std::string(e.what()).find("is not installed"), std::string::npos);
        } catch (const unsuitable& e) {
            EXPECT_EQ(by, factor_forecast::libraries::cholmod) << e.what();
        }
    }
}

TYPED_TEST(automatic_solve, gets_to_zero_diagonals_without_the_direct_solver) {
    using V = typename TypeParam::V;
    const auto s = turned<V>();
    auto o = to<V>(this->tol);
    expect_solution(s, solve(*this, s.A, s.b, o), this->tol);
    for (const auto p : {preconditioning::ilut, preconditioning::matching}) {
        o.preconditioner = p;
        const auto all = solve(*this, s.A, s.b, o);
        expect_solution(s, all, this->tol);
        EXPECT_EQ(all.first().method, gmres);
    }
}

/// A beam: what multigrid of aggregates is slow for, and a factor has hardly more entries than A.
template <class V>
csr<V, host> beam(index n) {
    std::vector<index> row, col;
    host_vector<V> val;
    for (index i = 0; i < n; ++i)
        for (index j = std::max(i - 2, 0); j <= std::min(i + 2, n - 1); ++j) {
            const bool at_an_end = i == j && (i == 0 || i == n - 1);
            constexpr int by_distance[] = {6, -4, 1};
            row.push_back(i), col.push_back(j);
            val.push_back(V(real<V>(by_distance[std::abs(i - j)] - at_an_end)));
        }
    return assemble<V>({n, n}, row, col, val);
}

/// ic of a beam is its exact factor: a solver that is kept, without probes, shows the others.
TYPED_TEST(automatic_solve, does_not_iterate_long_where_a_factor_is_cheap) {
    using V = typename TypeParam::V;
    if constexpr (std::is_same_v<typename TypeParam::B, cpu> && std::is_same_v<V, double>) {
        const auto s = manufactured<V>("beam", beam<V>(600));
        system_options o;
        o.tol = this->tol;
        EXPECT_LE(solve(*this, s.A, s.b, o).report.result().report.iterations, 3);
        const auto kept = [&] {
            host_vector<V> x(s.b.size(), V(0));
            return solver<V>(cpu{}, s.A, o).solve(s.b, x);
        };
        const auto all = kept();
        EXPECT_TRUE(all.converged());
        ASSERT_EQ(all.attempts.size(), 2);
        EXPECT_EQ(all.attempts[0].preconditioner, amg);
        EXPECT_LE(all.attempts[0].report.iterations, 60);
        EXPECT_EQ(all.result().method, direct);
        o.iterative = true;
        EXPECT_GT(kept().result().report.iterations, 150);
    }
}

/// Of more entries than small ones have: iterations would be thousands. The diagonal of the second
/// is positive, so that cg alone finds that it is indefinite.
TYPED_TEST(automatic_solve, looks_soon_at_factors_of_an_indefinite_matrix) {
    using V = typename TypeParam::V;
    if constexpr (std::is_same_v<typename TypeParam::B, cpu> && std::is_same_v<V, double>) {
        auto mixed = shifted(laplace2d<V>(5001, 10), V(3.7));
        const auto hidden = manufactured<V>("hidden", mixed);
        mixed.val.front() = -1;
        const auto told = manufactured<V>("told", mixed);
        system_options o;
        o.tol = this->tol;
        for (const auto* s : {&told, &hidden}) {
            const auto all = solve(*this, s->A, s->b, o);
            expect_solution(*s, all, this->tol);
            EXPECT_EQ(all.report.result().method, direct) << s->name;
            EXPECT_LE(all.report.attempts.size(), s == &told ? 1 : 3) << s->name;
        }
    }
}

TYPED_TEST(automatic_solve, takes_block_preconditioners_for_saddle_points) {
    using V = typename TypeParam::V;
    auto o = to<V>(this->tol);
    if constexpr (sizeof(real<V>) == sizeof(double)) {
        // Of little viscosity, which iterations without it take long for.
        auto thin = stokes2d<V>(40, 37);
        const index first = thin.shape.rows - 40 * 37;
        for (auto k = 0; k < thin.row_ptr[std::size_t(first)]; ++k)
            if (thin.col_ind[std::size_t(k)] < first) thin.val[std::size_t(k)] *= V(1e-5);
        auto stokes = manufactured<V>("stokes", rotated(thin));
        for (const V sign : {V(1), V(-1)}) {
            for (V& v : stokes.A.val) v *= sign;
            for (V& v : stokes.b) v *= sign;
            const auto all = solve(*this, stokes.A, stokes.b, o);
            expect_solution(stokes, all, this->tol);
            EXPECT_EQ(all.report.attempts.size(), 2);
            EXPECT_LE(all.first().report.iterations, 1000);
            EXPECT_EQ(all.report.result().method, gmres);
            EXPECT_EQ(all.report.result().preconditioner, saddle);
        }
    }
    const auto s = manufactured<V>("kkt", rotated(kkt(laplace2d<V>(12, 11), 40)));
    o.preconditioner = saddle;
    for (const auto m : {minres, gmres, fgmres, bicgstab, idrs}) {
        o.method = m;
        expect_solution(s, solve(*this, s.A, s.b, o), this->tol);
    }
    o.method = cg;
    EXPECT_THROW((void)solve(*this, s.A, s.b, o), unsuitable);
    o.method = {};
    EXPECT_EQ(solve(*this, s.A, s.b, o).first().method, gmres);
    EXPECT_THROW((void)solve(*this, laplace2d<V>(5, 5), host_vector<V>(25, V(1)), o), unsuitable);
}

TYPED_TEST(automatic_solve, reaches_every_method_by_its_name) {
    using V = typename TypeParam::V;
    auto o = to<V>(this->tol);
    for (const auto m : {fgmres, idrs})
        for (const auto& s : general_systems<V>()) {
            o.method = m;
            const auto all = solve(*this, s.A, s.b, o);
            expect_solution(s, all, this->tol);
            EXPECT_EQ(all.first().method, m);
            EXPECT_EQ(all.first().report.inner_iterations, 0);
        }
}

/// Solves in single precision within; the residual is that of double.
TYPED_TEST(automatic_solve, refines_what_single_precision_gives) {
    using V = typename TypeParam::V;
    auto o = to<V>(this->tol);
    o.method = refine;
    auto systems = definite_systems<V>();
    for (auto& s : general_systems<V>()) systems.push_back(std::move(s));
    if constexpr (std::is_same_v<V, double>) {
        for (const auto& s : systems) {
            const auto all = solve(*this, s.A, s.b, o);
            expect_solution(s, all, this->tol);
            EXPECT_GE(all.first().report.inner_iterations, all.first().report.iterations) << s.name;
            EXPECT_LE(all.first().report.iterations, 6) << s.name;
        }
        // Entries that single precision does not hold.
        auto large = laplace2d<V>(5, 5);
        for (V& v : large.val) v *= 1e60;
        EXPECT_THROW((void)solve(*this, large, host_vector<V>(25, 1.0), o), unsuitable);
        o.max_seconds = 0;
        EXPECT_EQ(solve(*this, systems[1].A, systems[1].b, o).first().report.status,
                  status::max_seconds);
    } else {
        EXPECT_THROW((void)solve(*this, systems[1].A, systems[1].b, o), unsuitable);
    }
}

/// Told as a failed attempt, with the reason, and others follow.
TYPED_TEST(automatic_solve, goes_on_where_the_direct_solver_does_not_suit) {
    using V = typename TypeParam::V;
    system_options o;
    o.tol = this->tol, o.max_iter = 600;
    const auto reason = [&](const csr<V, host>& A) -> std::string {
        const auto all = solve(*this, A, host_vector<V>(std::size_t(A.shape.rows), V(1)), o);
        EXPECT_GE(all.report.attempts.size(), 2);
        for (const auto& a : all.report.attempts)
            if (a.method == direct && a.report.status == status::failed) return a.report.why;
        return "none failed";
    };
    const auto tells = [](const std::string& why, const char* what) {
        return why.find(what) != std::string::npos;
    };
    auto zero_row = convected(laplace2d<V>(9, 9));
    for (offset k = zero_row.row_ptr[40]; k < zero_row.row_ptr[41]; ++k)
        zero_row.val[std::size_t(k)] = V(0);
    EXPECT_TRUE(tells(reason(zero_row), "structurally singular")) << reason(zero_row);
    const std::vector<index> row{0, 0, 1, 1}, col{0, 1, 0, 1};
    const host_vector<V> val{V(1), V(1), V(2), V(2)};
    EXPECT_TRUE(tells(reason(assemble<V>({2, 2}, row, col, val)), "numerically singular"));
    o.most_factor_bytes = 10;
    const auto s = turned<V>();
    const auto all = solve(*this, s.A, s.b, o);
    expect_solution(s, all, this->tol);
    EXPECT_NE(all.report.result().method, direct);
    o.method = direct;
    try {
        (void)solve(*this, s.A, s.b, o);
        FAIL();
    } catch (const unavailable& e) {
        EXPECT_TRUE(tells(e.what(), " allowed")) << e.what();
    }
    o.method = minres, o.preconditioner = ilut;
    EXPECT_THROW((void)solve(*this, s.A, s.b, o), unsuitable);
    o.method = direct, o.most_factor_bytes = {}, o.preconditioner = jacobi;
    EXPECT_THROW((void)solve(*this, s.A, s.b, o), unsuitable);
}

TYPED_TEST(automatic_solve, has_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto s = manufactured<V>("", rotated(shifted(laplace3d<V>(11, 12, 13), real<V>(1.7))));
    const auto one = solve(*this, s.A, s.b, to<V>(this->tol, 300));
    const auto two = solve(*this, s.A, s.b, to<V>(this->tol, 300));
    EXPECT_EQ(one.x, two.x);
    ASSERT_EQ(one.report.attempts.size(), two.report.attempts.size());
    for (std::size_t k = 0; k < one.report.attempts.size(); ++k)
        EXPECT_EQ(one.report.attempts[k].report.history, two.report.attempts[k].report.history);
}

}  // namespace
}  // namespace nz::test
