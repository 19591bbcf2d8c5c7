// The direct solver: small residuals whatever the matrix, and what it refuses.
#include "nonzero/solve/direct/factorization.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "nonzero/gen/counter.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/forecast.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/scaling/matching.hpp"
#include "test/systems.hpp"

namespace nz::test {
namespace {

template <class V>
class direct_solver : public ::testing::Test {};
using values = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(direct_solver, values);

template <class V>
void expect_solved(const linear_system<V>& s) {
    const auto F = factorization(view(s.A));
    host_vector<V> x(s.b.size());
    const double told = F.solve(s.b, x);
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 20 * r.rounding) << s.name;
    EXPECT_NEAR(told, double(r.norm / r.rhs), double(2 * r.rounding / r.rhs)) << s.name;
    EXPECT_GE(F.entries(), s.A.shape.rows) << s.name;
    EXPECT_GT(F.forecast().entries, 0) << s.name;
    host_vector<V> again(x.size());
    factorization(view(s.A)).solve(s.b, again);
    EXPECT_EQ(x, again) << s.name;
}

TYPED_TEST(direct_solver, solves_definite_indefinite_and_general_systems) {
    using V = TypeParam;
    for (const auto& systems :
         {definite_systems<V>(), indefinite_systems<V>(), general_systems<V>()})
        for (const auto& s : systems) expect_solved(s);
}

/// Rows in another order and badly scaled, so that the diagonal is all zero.
TYPED_TEST(direct_solver, takes_a_matrix_whose_diagonal_is_nowhere) {
    using V = TypeParam;
    const auto grid = convected(laplace2d<V>(23, 19));
    const index n = grid.shape.rows;
    std::vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(grid), 0, n, [&](index i, index j, V v) {
        row.push_back((i + n / 2) % n), col.push_back(j);
        val.push_back(v * V(real<V>(std::ldexp(1.0, 3 * (i % 7) - 2 * (j % 5)))));
    });
    expect_solved(manufactured<V>("turned", assemble<V>({n, n}, row, col, val)));
}

TYPED_TEST(direct_solver, solves_many_right_hand_sides_as_one_by_one) {
    using V = TypeParam;
    const auto s = manufactured<V>("", convected(laplace2d<V>(13, 17)));
    const auto n = s.b.size();
    const auto F = factorization(view(s.A));
    host_vector<V> B(3 * n), X(3 * n), x(n);
    for (std::size_t k = 0; k < B.size(); ++k) B[k] = counter(1, k).value<V>(0);
    F.solve_many(B, X);
    for (std::size_t c = 0; c < 3; ++c) {
        F.solve(std::span<const V>(B).subspan(c * n, n), x);
        for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(X[c * n + i], x[i]);
    }
    std::vector<host_vector<V>> at_once(4, host_vector<V>(n));
    {
        std::vector<std::jthread> threads;
        for (auto& mine : at_once) threads.emplace_back([&] { F.solve(s.b, mine); });
    }
    for (const auto& mine : at_once) EXPECT_EQ(mine, at_once.front());
    EXPECT_THROW((void)F.solve(s.b, std::span(x).first(3)), argument_error);
    EXPECT_THROW((void)F.solve_many(std::span<const V>(B).first(n + 1), std::span(X).first(n + 1)),
                 argument_error);
}

/// Half of the entries, forecast exactly; a pivot that is not positive leads to LU.
TYPED_TEST(direct_solver, takes_half_where_the_matrix_is_definite) {
    using V = TypeParam;
    for (const auto& s : definite_systems<V>()) {
        const auto F = factorization(view(s.A));
        EXPECT_TRUE(F.forecast().is_cholesky) << s.name;
        EXPECT_EQ(F.entries(), F.forecast().entries) << s.name;
        const factor_plan<V> lu(view(s.A), 0, factor_forecast::libraries::eigen, false);
        EXPECT_EQ(lu.forecast().entries, 2 * F.entries() - s.A.shape.rows) << s.name;
        EXPECT_EQ(lu.forecast().operations, 2 * F.forecast().operations) << s.name;
    }
    // Many operations an entry: LU, unless its memory is not there.
    const auto solid = laplace3d<V>(17, 17, 17);
    const factor_plan<V> lu(view(solid));
    EXPECT_FALSE(lu.forecast().is_cholesky);
    EXPECT_TRUE(factor_plan<V>(view(solid), lu.forecast().bytes * 0.9).forecast().is_cholesky);
    // Its diagonal is positive, and only the pivots see that it is indefinite.
    const auto s = manufactured<V>("", rotated(shifted(laplace2d<V>(21, 17), real<V>(1.7))));
    EXPECT_TRUE(factor_plan<V>(view(s.A)).forecast().is_cholesky);
    EXPECT_FALSE(factorization(view(s.A)).forecast().is_cholesky);
    expect_solved(s);
}

/// Badly scaled, both sides alike.
TYPED_TEST(direct_solver, takes_definite_matrices_of_every_scale) {
    using V = TypeParam;
    const auto grid = rotated(laplace2d<V>(23, 19));
    std::vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(grid), 0, grid.shape.rows, [&](index i, index j, V v) {
        row.push_back(i), col.push_back(j);
        val.push_back(v * V(real<V>(std::ldexp(1.0, 3 * (i % 7) + 3 * (j % 7)))));
    });
    const auto s = manufactured<V>("scaled", assemble<V>(grid.shape, row, col, val));
    EXPECT_TRUE(factorization(view(s.A)).forecast().is_cholesky);
    expect_solved(s);
}

/// The libraries that are not Eigen, each skipped where it is not installed.
template <class V>
void expect_solved_by(factor_forecast::libraries by, const linear_system<V>& s) {
    SCOPED_TRACE(s.name + " by " + std::string(name_of(by)));
    const auto F = factorization(view(s.A), 0, by);
    host_vector<V> x(s.b.size());
    const double told = F.solve(s.b, x);
    const auto r = residual_of(s.A, x, s.b);
    EXPECT_LE(r.norm, 20 * r.rounding);
    EXPECT_NEAR(told, double(r.norm / r.rhs), double(2 * r.rounding / r.rhs));
    EXPECT_GE(F.entries(), s.A.shape.rows);
    EXPECT_GT(F.forecast().entries, 0);
    EXPECT_GT(F.forecast().bytes, 0);
    EXPECT_EQ(F.forecast().library, by);
    if (by == factor_forecast::libraries::cholmod) {
        EXPECT_TRUE(F.forecast().is_cholesky);
    }
    EXPECT_THROW((void)factorization(view(s.A), 1, by), unavailable);  // too little memory
    std::vector<host_vector<V>> at_once(3, host_vector<V>(s.b.size()));
    {
        std::vector<std::jthread> threads;
        for (auto& mine : at_once) threads.emplace_back([&] { F.solve(s.b, mine); });
    }
    for (const auto& mine : at_once) EXPECT_EQ(mine, x);
}

template <class V>
void expect_library(factor_forecast::libraries by) {
    using enum factor_forecast::libraries;
    for (const auto& s : definite_systems<V>()) expect_solved_by(by, s);
    const std::vector<index> row{0, 0, 1, 1}, col{0, 1, 0, 1};
    const auto singular = assemble<V>({2, 2}, row, col, host_vector<V>{V(1), V(2), V(2), V(4)});
    EXPECT_EQ(factorization(view(csr<V, host>{{0, 0}, {0}, {}, {}}), 0, by).entries(), 0);
    if (by == cholmod) {
        for (const auto& s : general_systems<V>()) {
            if (s.name == "1x1") continue;
            EXPECT_THROW((void)factorization(view(s.A), 0, by), argument_error) << s.name;
        }
        const auto indefinite = rotated(shifted(laplace2d<V>(21, 17), real<V>(1.7)));
        EXPECT_THROW((void)factorization(view(indefinite), 0, by), argument_error);
        return;
    }
    for (const auto& systems : {indefinite_systems<V>(), general_systems<V>()})
        for (const auto& s : systems) expect_solved_by(by, s);
    if (by == umfpack || by == klu) {  // pardiso perturbs the pivot
        EXPECT_THROW((void)factorization(view(singular), 0, by), argument_error);
    }
}

TYPED_TEST(direct_solver, is_cholmod_where_that_is_installed) {
    if (const auto why = why_no_cholmod(); !why.empty()) GTEST_SKIP() << why;
    expect_library<TypeParam>(factor_forecast::libraries::cholmod);
}
TYPED_TEST(direct_solver, is_umfpack_where_that_is_installed) {
    if (const auto why = why_no_umfpack(); !why.empty()) GTEST_SKIP() << why;
    expect_library<TypeParam>(factor_forecast::libraries::umfpack);
}
TYPED_TEST(direct_solver, is_klu_where_that_is_installed) {
    if (const auto why = why_no_klu(); !why.empty()) GTEST_SKIP() << why;
    expect_library<TypeParam>(factor_forecast::libraries::klu);
}
TYPED_TEST(direct_solver, is_pardiso_where_that_is_installed) {
    if (const auto why = why_no_pardiso(); !why.empty()) GTEST_SKIP() << why;
    expect_library<TypeParam>(factor_forecast::libraries::pardiso);
}

TYPED_TEST(direct_solver, names_the_library_that_is_missing) {
    using V = TypeParam;
    using enum factor_forecast::libraries;
    EXPECT_EQ(why_no(eigen), "");
    EXPECT_EQ(why_no(automatic), "");
    const auto s = manufactured<V>("", convected(laplace2d<V>(13, 17)));
    for (const auto by : {umfpack, klu, pardiso}) {
        if (why_no(by).empty()) continue;
        EXPECT_THROW((void)factorization(view(s.A), 0, by), unavailable) << name_of(by);
    }
    const auto F = factorization(view(s.A), 0, automatic);
    host_vector<V> x(s.b.size());
    EXPECT_LE(F.solve(s.b, x), 20 * std::numeric_limits<real<V>>::epsilon());
    EXPECT_NE(F.forecast().library, automatic);
}

TYPED_TEST(direct_solver, refuses_what_is_singular_or_not_finite) {
    using V = TypeParam;
    const auto refusal = [](const csr<V, host>& A) -> std::string {
        try {
            (void)factorization(view(A));
        } catch (const argument_error& e) {
            return e.what();
        }
        return "";
    };
    const auto tells = [](const std::string& why, const char* what) {
        return why.find(what) != std::string::npos;
    };
    auto zero_row = laplace2d<V>(3, 3);
    for (offset k = zero_row.row_ptr[4]; k < zero_row.row_ptr[5]; ++k)
        zero_row.val[std::size_t(k)] = V(0);
    EXPECT_TRUE(tells(refusal(zero_row), "row 4")) << refusal(zero_row);
    auto nan = laplace2d<V>(3, 3);
    nan.val[7] = V(std::numeric_limits<real<V>>::quiet_NaN());
    EXPECT_TRUE(tells(refusal(nan), "not finite")) << refusal(nan);
    const std::vector<index> row{0, 0, 1, 1}, col{0, 1, 0, 1};
    EXPECT_TRUE(tells(refusal(assemble<V>({2, 2}, row, col, host_vector<V>(4, V(1)))),
                      "numerically singular"));
    EXPECT_TRUE(tells(refusal(random<V>(4, 5, 2, 1)), "expected a square matrix"));
    auto malformed = laplace2d<V>(3, 3);
    malformed.col_ind[2] = 99;
    EXPECT_NE(refusal(malformed), "");
    EXPECT_EQ(factorization(view(csr<V, host>{{0, 0}, {0}, {}, {}})).entries(), 0);
}

TYPED_TEST(direct_solver, refuses_with_the_number_what_would_take_too_much) {
    using V = TypeParam;
    const auto A = laplace2d<V>(40, 40);
    const auto needed = factor_plan<V>(view(A)).forecast();
    EXPECT_NO_THROW((void)factorization(view(A), needed.bytes));
    try {
        (void)factorization(view(A), needed.bytes / 2);
        FAIL();
    } catch (const unavailable& e) {
        EXPECT_NE(std::string(e.what()).find(" allowed"), std::string::npos) << e.what();
    }
}

/// Entries of L and U, with pivots on the diagonal, by dense elimination.
template <class V>
std::int64_t filled_by_elimination(const csr<V, host>& A) {
    const auto n = std::size_t(A.shape.rows);
    std::vector filled(n, std::vector<bool>(n, false));
    for (std::size_t i = 0; i < n; ++i) filled[i][i] = true;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, V) {
        filled[std::size_t(i)][std::size_t(j)] = filled[std::size_t(j)][std::size_t(i)] = true;
    });
    std::int64_t entries = 0;
    for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = k + 1; i < n; ++i)
            for (std::size_t j = k + 1; filled[i][k] && j < n; ++j)
                if (filled[k][j]) filled[i][j] = true;
    for (const auto& row : filled) entries += std::ranges::count(row, true);
    return entries;
}

TYPED_TEST(direct_solver, forecasts_the_fill_of_elimination) {
    using V = TypeParam;
    for (const auto& A : {laplace2d<V>(7, 6), convected(laplace2d<V>(5, 9))}) {
        EXPECT_EQ(forecast(view(A), {}, 1 << 20, true).entries,
                  (forecast(view(A)).entries + A.shape.rows) / 2);
        const std::int64_t entries = filled_by_elimination(A);
        EXPECT_EQ(forecast(view(A)).entries, entries);
        EXPECT_FALSE(forecast(view(A), {}, entries / 2).is_complete);
        const auto order = elimination_order(view(A));
        const auto to = onto_diagonal(match_where_needed(view(A)), order);
        const auto in_order = forecast(view(rearranged<V>(view(A), to)));
        EXPECT_EQ(forecast(view(A), order).entries, in_order.entries);
        EXPECT_EQ(forecast(view(A), order).operations, in_order.operations);
        EXPECT_LT(in_order.entries, entries);
    }
}

/// Forests of several trees, empty rows and columns, no diagonal.
TYPED_TEST(direct_solver, forecasts_the_fill_of_any_pattern) {
    using V = TypeParam;
    for (unsigned seed = 0; seed < 60; ++seed) {
        const auto A = random<V>(30, 30, index(seed % 4), seed);
        EXPECT_EQ(forecast(view(A)).entries, filled_by_elimination(A)) << seed;
    }
}

}  // namespace
}  // namespace nz::test
