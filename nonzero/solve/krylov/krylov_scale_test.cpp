// Right-hand sides of every size: the solvers' answers for 2^k b are 2^k times those for b, bit for
// bit where they can be, from the smallest denormal number to the largest finite one.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class V>
V times_power_of_2(V v, int k) {
    if constexpr (is_complex<V>) {
        return {std::ldexp(v.real(), k), std::ldexp(v.imag(), k)};
    } else {
        return std::ldexp(v, k);
    }
}
template <class V>
host_vector<V> times_power_of_2(host_vector<V> v, int k) {
    for (V& e : v) e = times_power_of_2(e, k);
    return v;
}

template <class V>
struct answer {
    host_vector<V> x;
    solve_report report;
};

enum class way { cg, minres, bicgstab, gmres };
constexpr way ways[] = {way::cg, way::minres, way::bicgstab, way::gmres};
constexpr const char* name_of(way w) {
    return w == way::cg         ? "cg"
           : w == way::minres   ? "minres"
           : w == way::bicgstab ? "bicgstab"
                                : "gmres";
}

template <class T>
class every_scale : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    using number = real<value>;
    static constexpr index n = 12 * 11;
    static constexpr int least =
        std::numeric_limits<number>::min_exponent - 1 -
        (std::numeric_limits<number>::digits - 1);  ///< of a denormal number
    static constexpr int most =
        std::numeric_limits<number>::max_exponent - 3;  ///< of up to 7 times it
    /// Symmetric positive definite, no row's sum below 4: |x_i| <= max |b_i| / 4.
    const csr<value, host> A = [] {
        auto made = rotated(laplace2d<value>(12, 11));
        for (index i = 0; i < n; ++i)
            for (auto k = std::size_t(made.row_ptr[std::size_t(i)]);
                 k < std::size_t(made.row_ptr[std::size_t(i) + 1]); ++k)
                if (made.col_ind[k] == i) made.val[k] *= number(2);
        return made;
    }();
    /// Small integers, so that 2^k b is exact for every k that value has room for.
    const host_vector<value> b = [] {
        host_vector<value> made(n);
        for (std::size_t i = 0; i < n; ++i) {
            const int v = 1 + int(i * i % 7);
            made[i] = value(number(i % 3 == 0 ? -v : v));
            if constexpr (is_complex<value>)
                made[i] = value(made[i].real(), number(int(i % 5) - 2));
        }
        return made;
    }();

    [[nodiscard]] answer<value> solve(way w, const csr<value, host>& matrix,
                                      const host_vector<value>& rhs,
                                      const host_vector<value>& guess,
                                      const linear_operator<value, backend>* M = nullptr) const {
        const auto op = this->operator_of(matrix);
        const auto from = this->to_backend(rhs);
        auto x = this->to_backend(guess);
        gmres_options o;
        o.tol = this->tol;
        const auto run = [&](auto method) {
            return M == nullptr ? method(this->on_, *op, from, x, o)
                                : method(this->on_, *op, *M, from, x, o);
        };
        auto report =
            w == way::cg         ? run([](auto&&... a) { return cg<value, backend>(a...); })
            : w == way::minres   ? run([](auto&&... a) { return minres<value, backend>(a...); })
            : w == way::bicgstab ? run([](auto&&... a) { return bicgstab<value, backend>(a...); })
                                 : run([](auto&&... a) { return gmres<value, backend>(a...); });
        return {this->here(x), std::move(report)};
    }
    [[nodiscard]] answer<value> solve(way w, const host_vector<value>& rhs) const {
        return solve(w, A, rhs, zeros());
    }
    [[nodiscard]] static host_vector<value> zeros() { return host_vector<value>(n, value(0)); }
    /// Powers of two that leave room for x to be a normal number.
    [[nodiscard]] static std::vector<int> exact_powers() {
        if (std::is_same_v<number, float>) return {-90, -70, -63, -20, 20, 63, 66, 100, most};
        return {-960, -700, -538, -300, -70, -20, 20, 70, 300, 509, 600, 1000, most};
    }
};
TYPED_TEST_SUITE(every_scale, everywhere);

TYPED_TEST(every_scale, has_the_answer_of_scale_1) {
    using V = typename TypeParam::V;
    const auto M = jacobi(this->on_, view(this->A));
    for (const way w : ways)
        for (const auto* with : {static_cast<decltype(M.get())>(nullptr), M.get()}) {
            const auto plain = this->solve(w, this->A, this->b, this->zeros(), with);
            ASSERT_TRUE(plain.report.converged) << name_of(w) << ": " << plain.report.why;
            ASSERT_GT(plain.report.iterations, 2);
            for (const int k : this->exact_powers()) {
                const auto scaled =
                    this->solve(w, this->A, times_power_of_2(this->b, k), this->zeros(), with);
                const auto& r = scaled.report;
                EXPECT_TRUE(r.converged) << name_of(w) << ", 2^" << k << ": " << r.why;
                EXPECT_EQ(scaled.x, times_power_of_2<V>(plain.x, k)) << name_of(w) << ", 2^" << k;
                EXPECT_EQ(r.history, plain.report.history) << name_of(w) << ", 2^" << k;
                EXPECT_EQ(r.relative_residual(), plain.report.relative_residual());
                EXPECT_EQ(r.rhs_norm, std::ldexp(plain.report.rhs_norm, k));
                EXPECT_EQ(r.residual_norm, std::ldexp(plain.report.residual_norm, k));
            }
        }
}

/// Squares of A's values leave the range of their type, and b may be of A's size or of x's.
TYPED_TEST(every_scale, of_the_matrix_has_an_answer) {
    using V = typename TypeParam::V;
    const bool is_float = std::is_same_v<real<V>, float>;
    const auto powers = is_float ? std::vector{-110, -70, 70, 110}
                                 : std::vector{-1000, -700, -520, -300, 300, 520, 700, 1000};
    for (const int k : powers) {
        auto scaled = this->A;
        for (V& v : scaled.val) v = times_power_of_2(v, k);
        const auto M = jacobi(this->on_, view(scaled));
        for (const way w : ways)
            for (const int of_b : {0, k})
                for (const auto* with : {static_cast<decltype(M.get())>(nullptr), M.get()}) {
                    const auto rhs = times_power_of_2(this->b, of_b);
                    const auto [x, report] = this->solve(w, scaled, rhs, this->zeros(), with);
                    EXPECT_TRUE(report.converged)
                        << name_of(w) << ", 2^" << k << ", b " << of_b << ": " << report.why;
                    const auto r = residual_of(scaled, x, rhs);
                    EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << name_of(w);
                }
    }
}

/// x is rounded to the denormal numbers of V, and the report knows.
TYPED_TEST(every_scale, says_where_denormal_numbers_are_too_coarse) {
    using V = typename TypeParam::V;
    for (const way w : ways) {
        const auto plain = this->solve(w, this->b);
        for (const int k : {this->least, this->least + 4}) {
            const auto rhs = times_power_of_2(this->b, k);
            const auto [x, report] = this->solve(w, rhs);
            EXPECT_EQ(x, times_power_of_2<V>(plain.x, k)) << name_of(w) << ", 2^" << k;
            EXPECT_FALSE(report.converged) << name_of(w) << ", 2^" << k;
            EXPECT_NE(report.why.find("denormal"), std::string::npos) << report.why;
            const auto r = residual_of(this->A, x, rhs);
            EXPECT_NEAR(report.relative_residual(), double(r.norm / r.rhs), 1e-3) << name_of(w);
        }
        // Where denormal numbers are enough it has converged: x = b / 8.
        auto D = this->A;
        for (index i = 0; i < this->n; ++i)
            for (auto k = std::size_t(D.row_ptr[std::size_t(i)]);
                 k < std::size_t(D.row_ptr[std::size_t(i) + 1]); ++k)
                D.val[k] = D.col_ind[k] == i ? V(8) : V(0);
        const auto rhs = times_power_of_2(this->b, this->least + 3);
        const auto [x, report] = this->solve(w, D, rhs, this->zeros());
        EXPECT_TRUE(report.converged) << name_of(w) << ": " << report.why;
        EXPECT_EQ(x, times_power_of_2(this->b, this->least)) << name_of(w);
    }
}

TYPED_TEST(every_scale, says_that_x_overflows) {
    using V = typename TypeParam::V;
    auto tiny = this->A;
    for (V& v : tiny.val) v = times_power_of_2(v, -10);
    for (const way w : ways) {
        const auto [x, report] =
            this->solve(w, tiny, times_power_of_2(this->b, this->most), this->zeros());
        EXPECT_FALSE(report.converged) << name_of(w);
        EXPECT_NE(report.why.find("overflows"), std::string::npos) << report.why;
    }
}

TYPED_TEST(every_scale, takes_guesses_near_and_far) {
    using V = typename TypeParam::V;
    using R = real<V>;
    for (const way w : ways) {
        const auto plain = this->solve(w, this->b);
        for (const int k : this->exact_powers()) {
            const auto rhs = times_power_of_2(this->b, k);
            const auto guess = times_power_of_2<V>(plain.x, k);
            const auto near = this->solve(w, this->A, rhs, guess);
            EXPECT_TRUE(near.report.converged) << name_of(w) << ", 2^" << k;
            EXPECT_EQ(near.report.iterations, 0) << name_of(w) << ", 2^" << k;
            EXPECT_EQ(near.x, guess) << name_of(w) << ", 2^" << k;
        }
        // So far that b - A x overflows, or would in b's scale: zero is nearer.
        for (const auto& [k, far] : {std::pair(this->exact_powers().front(), R(1)),
                                     std::pair(0, std::numeric_limits<R>::max() / 2)}) {
            const auto rhs = times_power_of_2(this->b, k);
            const auto from_far = this->solve(w, this->A, rhs, host_vector<V>(this->n, V(far)));
            EXPECT_TRUE(from_far.report.converged)
                << name_of(w) << ", 2^" << k << ": " << from_far.report.why;
            const auto r = residual_of(this->A, from_far.x, rhs);
            EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding) << name_of(w);
        }
    }
}

TYPED_TEST(every_scale, is_not_for_numbers_that_are_none) {
    using V = typename TypeParam::V;
    using R = real<V>;
    for (const way w : ways)
        for (const R bad :
             {std::numeric_limits<R>::infinity(), std::numeric_limits<R>::quiet_NaN()})
            for (const int k : {this->least, 0, this->most}) {
                auto rhs = times_power_of_2(this->b, k);
                rhs[5] = V(bad);
                const auto in_b = this->solve(w, rhs);
                EXPECT_FALSE(in_b.report.converged) << name_of(w);
                EXPECT_EQ(in_b.report.why, "b, or b - A x at the start, is not finite");
                EXPECT_EQ(in_b.x, this->zeros()) << name_of(w);

                auto guess = this->zeros();
                guess[5] = V(bad);
                const auto in_x =
                    this->solve(w, this->A, times_power_of_2(this->b, k), guess).report;
                EXPECT_FALSE(in_x.converged) << name_of(w);
                EXPECT_EQ(in_x.why, "b, or b - A x at the start, is not finite");
            }
}

}  // namespace
}  // namespace nz::test
