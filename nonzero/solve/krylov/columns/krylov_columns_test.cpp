// MINRES, BiCGSTAB and GMRES on several right-hand sides in step: each is solved within its bound,
// whatever the others are. Conjugate gradients have a test of their own.
#include <gtest/gtest.h>

#include <limits>

#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/bicgstab.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/krylov/minres.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

/// Vectors by rows.
template <class V>
struct block {
    std::size_t n, count;
    host_vector<V> values = host_vector<V>(n * count, V(0));

    void set(std::size_t c, const host_vector<V>& v) {
        for (std::size_t i = 0; i < n; ++i) values[i * count + c] = v[i];
    }
    [[nodiscard]] host_vector<V> vector(std::size_t c) const {
        host_vector<V> v(n);
        for (std::size_t i = 0; i < n; ++i) v[i] = values[i * count + c];
        return v;
    }
    static block random(std::size_t n, std::size_t count) {
        block all{n, count};
        for (std::size_t c = 0; c < count; ++c) all.set(c, random_vector<V>(n, unsigned(c + 1)));
        return all;
    }
};

struct by_minres {
    template <class V, class B>
    static auto solve(auto&&... a) {
        return minres<V, B>(a...);
    }
    template <class V>
    static auto systems() {
        return indefinite_systems<V>();
    }
};
struct by_bicgstab {
    template <class V, class B>
    static auto solve(auto&&... a) {
        return bicgstab<V, B>(a...);
    }
    template <class V>
    static auto systems() {
        return general_systems<V>();
    }
};

struct by_gmres {
    template <class V, class B>
    static auto solve(auto&&... a) {
        return gmres<V, B>(a...);
    }
    template <class V>
    static auto systems() {
        return general_systems<V>();
    }
};

template <class Method_, class V, class B>
struct with : on_backend<V, B> {
    using Method = Method_;
};

template <class T>
class columns_by : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    using product = linear_operator<value, backend>;

    [[nodiscard]] auto product_of(const csr<value, host>& A, index vectors) const {
        return build(make_plan(A, this->on_, {.vectors = vectors}), A);
    }
    /// x: the guesses, and the solutions afterwards.
    std::vector<solve_report> solve(const product& A, const product* M, const block<value>& b,
                                    block<value>& x, const solve_options& o) const {
        const auto rhs = this->to_backend(b.values);
        auto solution = this->to_backend(x.values);
        const auto count = index(b.count);
        using enum storage_order;
        const in_columns<value, backend> from{rhs, b.count, count, row_major};
        const out_columns<value, backend> to{solution, b.count, count, row_major};
        const auto reports =
            M == nullptr
                ? T::Method::template solve<value, backend>(this->on_, A, from, to, all_of(o))
                : T::Method::template solve<value, backend>(this->on_, A, *M, from, to, all_of(o));
        x.values = this->here(solution);
        return reports;
    }
    solve_report solve_alone(const product& A, const product* M, const host_vector<value>& b,
                             host_vector<value>& x, const solve_options& o) const {
        auto solution = this->to_backend(x);
        const auto rhs = this->to_backend(b);
        const in<value, backend> from(rhs);
        const out<value, backend> to(solution);
        const auto report =
            M == nullptr
                ? T::Method::template solve<value, backend>(this->on_, A, from, to, all_of(o))
                : T::Method::template solve<value, backend>(this->on_, A, *M, from, to, all_of(o));
        x = this->here(solution);
        return report;
    }
    void expect_solved(const csr<value, host>& A, const host_vector<value>& x,
                       const host_vector<value>& b, const solve_report& report) const {
        const auto r = residual_of(A, x, b);
        EXPECT_TRUE(report.converged) << report.why;
        EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
        EXPECT_NEAR(report.residual_norm, double(r.norm), double(r.rounding));
    }
    /// Of |diagonal|; null where an entry is zero.
    [[nodiscard]] auto jacobi_of(const csr<value, host>& A) const {
        const auto d = diagonal_of(cpu{}, view(A));
        const bool has_zero = std::ranges::any_of(d, [](value v) { return v == value(0); });
        return has_zero ? nullptr : jacobi(this->on_, view(diagonal_matrix(magnitudes<value>(d))));
    }
    static gmres_options all_of(const solve_options& o) {
        gmres_options all;
        static_cast<solve_options&>(all) = o;
        return all;
    }
};
using methods_everywhere =
    ::testing::Types<with<by_minres, float, cpu>, with<by_minres, double, cpu>,
                     with<by_minres, std::complex<float>, cpu>,
                     with<by_minres, std::complex<double>, cpu>, with<by_minres, float, gpu>,
                     with<by_minres, double, gpu>, with<by_minres, std::complex<float>, gpu>,
                     with<by_minres, std::complex<double>, gpu>, with<by_bicgstab, float, cpu>,
                     with<by_bicgstab, double, cpu>, with<by_bicgstab, std::complex<float>, cpu>,
                     with<by_bicgstab, std::complex<double>, cpu>, with<by_bicgstab, float, gpu>,
                     with<by_bicgstab, double, gpu>, with<by_bicgstab, std::complex<float>, gpu>,
                     with<by_bicgstab, std::complex<double>, gpu>, with<by_gmres, float, cpu>,
                     with<by_gmres, double, cpu>, with<by_gmres, std::complex<float>, cpu>,
                     with<by_gmres, std::complex<double>, cpu>, with<by_gmres, float, gpu>,
                     with<by_gmres, double, gpu>, with<by_gmres, std::complex<float>, gpu>,
                     with<by_gmres, std::complex<double>, gpu>>;
TYPED_TEST_SUITE(columns_by, methods_everywhere);

TYPED_TEST(columns_by, are_solved_each_within_its_bound) {
    using V = typename TypeParam::V;
    for (const auto& [name, A, b0] : TypeParam::Method::template systems<V>()) {
        SCOPED_TRACE(name);
        const auto n = std::size_t(A.shape.rows);
        const auto op = this->product_of(A, 8);
        const auto J = this->jacobi_of(A);
        for (const std::size_t count : {2U, 9U, 70U}) {
            const auto b = block<V>::random(n, count);
            for (const auto* M : {static_cast<decltype(J.get())>(nullptr), J.get()}) {
                block<V> x{n, count};
                const auto reports = this->solve(*op, M, b, x, {.tol = this->tol});
                ASSERT_EQ(reports.size(), count);
                for (std::size_t c = 0; c < count; ++c)
                    this->expect_solved(A, x.vector(c), b.vector(c), reports[c]);
                if (J == nullptr) break;
            }
        }
    }
}

TYPED_TEST(columns_by, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto A = TypeParam::Method::template systems<V>()[1].A;
    const auto n = std::size_t(A.shape.rows);
    const auto op = this->product_of(A, 20);
    const auto b = block<V>::random(n, 20);
    block<V> x{n, 20};
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    for (int run = 0; run < 2; ++run) {
        block<V> again{n, 20};
        const auto others = this->solve(*op, nullptr, b, again, {.tol = this->tol});
        EXPECT_EQ(x.values, again.values);
        for (std::size_t c = 0; c < 20; ++c) EXPECT_EQ(reports[c].history, others[c].history);
    }
}

TYPED_TEST(columns_by, of_one_are_the_single_solve) {
    using V = typename TypeParam::V;
    const auto A = TypeParam::Method::template systems<V>()[1].A;
    const auto n = std::size_t(A.shape.rows);
    const auto op = this->product_of(A, 1);
    const auto b = block<V>::random(n, 1);
    block<V> x{n, 1};
    host_vector<V> solution(n, V(0));
    const auto one = this->solve_alone(*op, nullptr, b.vector(0), solution, {.tol = this->tol});
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    EXPECT_EQ(reports.at(0).history, one.history);
    EXPECT_EQ(x.values, solution);
}

TYPED_TEST(columns_by, end_each_as_alone_where_columns_are_awkward) {
    using V = typename TypeParam::V;
    const auto A = TypeParam::Method::template systems<V>()[1].A;
    const auto n = std::size_t(A.shape.rows);
    const auto op = this->product_of(A, 9);
    auto b = block<V>::random(n, 9);
    block<V> x{n, 9};
    constexpr auto nan = std::numeric_limits<real<V>>::quiet_NaN();
    const auto changed = [&](std::size_t c, auto f) {
        auto v = b.vector(c);
        f(v);
        b.set(c, v);
    };
    changed(1, [](auto& v) { v.assign(v.size(), V(0)); });
    changed(2, [&](auto& v) { v[7] = V(nan); });
    changed(3, [&](auto& v) { v = b.vector(0); });
    changed(4, [](auto& v) {
        for (V& e : v) e *= V(std::numeric_limits<real<V>>::min());
    });
    x.set(5, random_vector<V>(n, 3));
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    EXPECT_TRUE(reports[1].converged);
    EXPECT_EQ(x.vector(1), host_vector<V>(n, V(0)));
    EXPECT_EQ(reports[2].status, status::not_finite_at_start);
    for (const std::size_t c : {0U, 3U, 5U, 6U, 7U, 8U})
        this->expect_solved(A, x.vector(c), b.vector(c), reports[c]);
    EXPECT_TRUE(reports[4].converged) << reports[4].why;
    EXPECT_EQ(x.vector(0), x.vector(3));
}

TYPED_TEST(columns_by, tell_what_ends_them) {
    using V = typename TypeParam::V;
    const auto A = TypeParam::Method::template systems<V>()[1].A;
    const auto n = std::size_t(A.shape.rows);
    const auto op = this->product_of(A, 6);
    const auto b = block<V>::random(n, 6);
    block<V> x{n, 6};
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = this->tol, .max_iter = 5})) {
        EXPECT_EQ(r.status, status::max_iter);
        EXPECT_EQ(r.iterations, 5);
        EXPECT_EQ(r.history.size(), 6U);
        EXPECT_LE(r.relative, 1);
    }
    x = {n, 6};
    const auto three = [](std::int64_t k, double) { return k < 3; };
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = this->tol, .monitor = three})) {
        EXPECT_EQ(r.status, status::stopped_by_caller);
        EXPECT_EQ(r.iterations, 3);
    }
    x = {n, 6};
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = 0, .max_iter = 2000}))
        EXPECT_FALSE(r.converged);
}

}  // namespace
}  // namespace nz::test
