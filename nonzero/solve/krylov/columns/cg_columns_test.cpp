// Conjugate gradients on several right-hand sides in step: each is solved within its bound,
// whatever the others are.
#include <gtest/gtest.h>

#include <atomic>
#include <limits>

#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/krylov/cg.hpp"
#include "nonzero/solve/multigrid/amg.hpp"
#include "nonzero/solve/preconditioners/jacobi.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class V>
using vectors_of = std::vector<host_vector<V>>;

/// Vectors in an array, and back.
template <class V>
struct layout {
    storage_order order = storage_order::row_major;
    std::size_t stride = 0;
    [[nodiscard]] std::size_t place(std::size_t i, std::size_t c) const {
        return order == storage_order::row_major ? i * stride + c : c * stride + i;
    }
    [[nodiscard]] host_vector<V> of(const vectors_of<V>& all) const {
        const std::size_t n = all.empty() ? 0 : all.front().size();
        host_vector<V> values((order == storage_order::row_major ? n : all.size()) * stride);
        for (std::size_t c = 0; c < all.size(); ++c)
            for (std::size_t i = 0; i < n; ++i) values[place(i, c)] = all[c][i];
        return values;
    }
};

template <class T>
class several : public solver_test<T> {
  public:
    using typename solver_test<T>::value;
    using typename solver_test<T>::backend;
    using product = linear_operator<value, backend>;

    /// x: the guesses, and the solutions afterwards.
    std::vector<solve_report> solve(const product& A, const product* M, const vectors_of<value>& b,
                                    vectors_of<value>& x, const solve_options& o,
                                    storage_order order = storage_order::row_major) const {
        const auto n = std::size_t(A.shape().rows), count = b.size();
        const layout<value> lies{order, (order == storage_order::row_major ? count : n) + 2};
        const auto rhs = this->to_backend(lies.of(b));
        auto solution = this->to_backend(lies.of(x));
        const in_columns<value, backend> from{rhs, lies.stride, index(count), order};
        const out_columns<value, backend> to{solution, lies.stride, index(count), order};
        const auto reports = M == nullptr ? cg<value, backend>(this->on_, A, from, to, o)
                                          : cg<value, backend>(this->on_, A, *M, from, to, o);
        const auto found = this->here(solution);
        for (std::size_t c = 0; c < count; ++c)
            for (std::size_t i = 0; i < n; ++i) x[c][i] = found[lies.place(i, c)];
        return reports;
    }
    void expect_solved(const csr<value, host>& A, const host_vector<value>& x,
                       const host_vector<value>& b, const solve_report& report) const {
        const auto r = residual_of(A, x, b);
        EXPECT_TRUE(report.converged) << report.why;
        EXPECT_LE(r.norm, this->tol * double(r.rhs) + r.rounding);
        EXPECT_NEAR(report.residual_norm, double(r.norm), double(r.rounding));
        EXPECT_EQ(report.history.size(), std::size_t(report.iterations) + 1);
    }
    static vectors_of<value> random(std::size_t n, std::size_t count) {
        vectors_of<value> all;
        for (unsigned c = 0; c < count; ++c) all.push_back(random_vector<value>(n, c + 1));
        return all;
    }
    static vectors_of<value> zeros(std::size_t n, std::size_t count) {
        return vectors_of<value>(count, host_vector<value>(n, value(0)));
    }
};
TYPED_TEST_SUITE(several, everywhere);

TYPED_TEST(several, solve_each_within_its_bound) {
    using V = typename TypeParam::V;
    for (const auto& [name, A, b0] : definite_systems<V>()) {
        SCOPED_TRACE(name);
        const auto n = std::size_t(A.shape.rows);
        const auto op = build(make_plan(A, this->on_, {.vectors = 8}), A);
        const auto J = jacobi(this->on_, view(A));
        using enum storage_order;
        for (const auto& [count, order] :
             {std::pair{2U, row_major}, {9U, column_major}, {70U, row_major}}) {
            const auto b = this->random(n, count);
            for (const auto* M : {static_cast<const decltype(J.get())>(nullptr), J.get()}) {
                auto x = this->zeros(n, count);
                const auto reports = this->solve(*op, M, b, x, {.tol = this->tol}, order);
                ASSERT_EQ(reports.size(), count);
                for (std::size_t c = 0; c < count; ++c)
                    this->expect_solved(A, x[c], b[c], reports[c]);
            }
        }
    }
}

TYPED_TEST(several, have_the_same_bits_in_every_run) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(70, 60));
    const auto op = build(make_plan(A, this->on_, {.vectors = 20}), A);
    const auto b = this->random(4200, 20);
    auto x = this->zeros(4200, 20), again = x;
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    for (int run = 0; run < 3; ++run) {
        again = this->zeros(4200, 20);
        const auto others = this->solve(*op, nullptr, b, again, {.tol = this->tol});
        EXPECT_EQ(x, again);
        for (std::size_t c = 0; c < 20; ++c) EXPECT_EQ(reports[c].history, others[c].history);
    }
}

TYPED_TEST(several, take_as_many_iterations_as_alone) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = rotated(laplace3d<V>(12, 11, 10));
    const std::size_t n = 1320, count = 12;
    const auto op = build(make_plan(A, this->on_, {.vectors = 12}), A);
    auto b = this->random(n, count), x = this->zeros(n, count);
    for (std::size_t c = 0; c < count; c += 3) x[c] = random_vector<V>(n, unsigned(c + 70));
    auto alone = x;
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    for (std::size_t c = 0; c < count; ++c) {
        auto solution = this->to_backend(alone[c]);
        const auto one =
            cg<V, B>(this->on_, *op, this->to_backend(b[c]), solution, {.tol = this->tol});
        EXPECT_NEAR(double(one.iterations), double(reports[c].iterations), 1);
        this->expect_solved(A, x[c], b[c], reports[c]);
    }
}

TYPED_TEST(several, of_one_are_the_single_solve) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = rotated(laplace2d<V>(30, 20));
    const auto op = build(make_plan(A, this->on_), A);
    const auto b = this->random(600, 1);
    auto x = this->zeros(600, 1);
    auto solution = this->to_backend(x[0]);
    const auto one = cg<V, B>(this->on_, *op, this->to_backend(b[0]), solution, {.tol = this->tol});
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    ASSERT_EQ(reports.size(), 1U);
    EXPECT_EQ(reports[0].history, one.history);
    EXPECT_EQ(x[0], this->here(solution));
}

TYPED_TEST(several, end_each_as_alone_where_columns_are_awkward) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(25, 24));
    const std::size_t n = 600, count = 11;
    const auto op = build(make_plan(A, this->on_, {.vectors = 11}), A);
    auto b = this->random(n, count), x = this->zeros(n, count);
    constexpr auto nan = std::numeric_limits<real<V>>::quiet_NaN();
    b[1].assign(n, V(0));  // zero
    b[2][17] = V(nan);     // no number
    b[3] = b[0];           // the same, and a multiple
    for (std::size_t i = 0; i < n; ++i) b[4][i] = V(3) * b[0][i];
    for (auto& v : b[5]) v *= V(std::numeric_limits<real<V>>::min());  // tiny
    x[6][5] = V(nan);                                                  // no number in the guess
    x[7] = random_vector<V>(n, 3);                                     // a bad guess
    for (auto& v : x[7]) v *= V(real<V>(1e25));
    auto guess = this->zeros(n, 1);
    x[1] = random_vector<V>(n, 3);
    const auto reports = this->solve(*op, nullptr, b, x, {.tol = this->tol});
    EXPECT_TRUE(reports[1].converged);
    EXPECT_EQ(x[1], host_vector<V>(n, V(0)));
    for (const std::size_t c : {2U, 6U}) {
        EXPECT_EQ(reports[c].status, status::not_finite_at_start);
        EXPECT_FALSE(reports[c].converged);
    }
    for (const std::size_t c : {0U, 3U, 4U, 5U, 8U, 9U, 10U}) {
        SCOPED_TRACE(c);
        EXPECT_TRUE(reports[c].converged) << reports[c].why;
        if (c != 5) this->expect_solved(A, x[c], b[c], reports[c]);
    }
    EXPECT_TRUE(reports[7].converged) << reports[7].why;
    EXPECT_EQ(x[0], x[3]);
}

TYPED_TEST(several, tell_what_ends_them) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(30, 30));
    const std::size_t n = 900, count = 6;
    const auto op = build(make_plan(A, this->on_, {.vectors = 6}), A);
    const auto b = this->random(n, count);
    auto x = this->zeros(n, count);
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = this->tol, .max_iter = 7})) {
        EXPECT_EQ(r.status, status::max_iter);
        EXPECT_EQ(r.iterations, 7);
        EXPECT_EQ(r.history.size(), 8U);
    }
    x = this->zeros(n, count);
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = this->tol, .max_seconds = 0}))
        EXPECT_EQ(r.status, status::max_seconds);
    x = this->zeros(n, count);
    int calls = 0;
    const auto three = [&](std::int64_t k, double) {
        EXPECT_EQ(k, ++calls);
        return k < 3;
    };
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = this->tol, .monitor = three})) {
        EXPECT_EQ(r.status, status::stopped_by_caller);
        EXPECT_EQ(r.iterations, 3);
    }
    // Beyond what rounding allows.
    x = this->zeros(n, count);
    for (const auto& r : this->solve(*op, nullptr, b, x, {.tol = 0, .max_iter = 3000}))
        EXPECT_FALSE(r.converged);
    // A is not positive definite: each tells it.
    auto minus = A;
    for (auto& v : minus.val) v = -v;
    const auto negative = build(make_plan(minus, this->on_, {.vectors = 6}), minus);
    x = this->zeros(n, count);
    for (const auto& r : this->solve(*negative, nullptr, b, x, {.tol = this->tol}))
        EXPECT_EQ(r.status, status::indefinite_matrix);
    EXPECT_EQ(x, this->zeros(n, count));
}

TYPED_TEST(several, take_operators_that_take_one_vector) {
    using V = typename TypeParam::V;
    const auto A = rotated(laplace2d<V>(20, 20));
    const auto op = this->operator_of(A);  // csr.merge, vector by vector
    const auto M = this->multiple(400, V(real<V>(0.25)));
    const auto b = this->random(400, 5);
    auto x = this->zeros(400, 5);
    const auto reports = this->solve(*op, &M, b, x, {.tol = this->tol});
    for (std::size_t c = 0; c < 5; ++c) this->expect_solved(A, x[c], b[c], reports[c]);
}

TYPED_TEST(several, with_multigrid_that_cycles_over_all) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = rotated(laplace3d<V>(14, 13, 12));
    const std::size_t n = 2184, count = 40;
    const auto op = build(make_plan(A, this->on_, {.vectors = 40}), A);
    const amg<V, B> M(A, this->on_, {.coarse_rows = 60}, {}, op.get());
    const auto b = this->random(n, count);
    auto x = this->zeros(n, count);
    const auto reports = this->solve(*op, &M, b, x, {.tol = this->tol});
    for (std::size_t c = 0; c < count; ++c) {
        this->expect_solved(A, x[c], b[c], reports[c]);
        EXPECT_LT(reports[c].iterations, 20);
    }
}

TYPED_TEST(several, refuse_what_does_not_fit) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto A = rotated(laplace2d<V>(4, 3));
    const auto op = build(make_plan(A, this->on_), A);
    const auto values = this->to_backend(host_vector<V>(36, V(1)));
    auto solution = this->to_backend(host_vector<V>(36, V(0)));
    using enum storage_order;
    const auto run = [&](const in_columns<V, B>& b, const out_columns<V, B>& x,
                         const solve_options& o = {}) { return cg<V, B>(this->on_, *op, b, x, o); };
    EXPECT_TRUE(run({values, 0, 0, row_major}, {solution, 0, 0, row_major}).empty());
    EXPECT_EQ(run({values, 3, 3, row_major}, {solution, 12, 3, column_major}).size(), 3U);
    EXPECT_THROW(run({values, 3, 3, row_major}, {solution, 2, 2, row_major}), argument_error);
    EXPECT_THROW(run({values, 2, 3, row_major}, {solution, 3, 3, row_major}), argument_error);
    EXPECT_THROW(run({values, 4, 4, row_major}, {solution, 4, 4, row_major}), argument_error);
    EXPECT_THROW(run({values, 11, 3}, {solution, 12, 3}), argument_error);
    EXPECT_THROW(run({values, 12, -1}, {solution, 12, -1}), argument_error);
    EXPECT_THROW(run({values, 3, 3, row_major}, {solution, 3, 3, row_major}, {.tol = -1}),
                 argument_error);
}

}  // namespace
}  // namespace nz::test
