// Threshold ILU and the matched diagonal, as operators and in front of Krylov methods.
#include "nonzero/solve/preconditioners/ilut.hpp"

#include <cmath>

#include "nonzero/gen/counter.hpp"
#include "nonzero/solve/krylov/gmres.hpp"
#include "nonzero/solve/preconditioners/matched_diagonal.hpp"
#include "test/solver_fixture.hpp"

namespace nz::test {
namespace {

template <class T>
using incomplete_by_threshold = solver_test<T>;
TYPED_TEST_SUITE(incomplete_by_threshold, everywhere);

/// Rows in another order, so that the diagonal is zero.
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

/// Nothing dropped: the factors are those of A.
TYPED_TEST(incomplete_by_threshold, is_the_inverse_where_nothing_is_dropped) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    for (const auto& s : {turned<V>(), manufactured<V>("", convected(laplace2d<V>(12, 14)))}) {
        const auto M = ilut<V, B>(this->on_, ascending(view(s.A)), {.drop = 0, .fill = 1e6});
        auto x = this->to_backend(host_vector<V>(s.b.size()));
        M->apply(V(1), this->to_backend(s.b), V(0), x);
        const auto r = residual_of(s.A, this->here(x), s.b);
        EXPECT_LE(r.norm, 50 * r.rounding);
        EXPECT_GT(M->bytes(), 0);
    }
}

TYPED_TEST(incomplete_by_threshold, spares_iterations) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const auto s = turned<V>();
    const auto A = this->operator_of(s.A);
    const auto iterations = [&](const linear_operator<V, B>& M) {
        auto x = this->to_backend(host_vector<V>(s.b.size(), V(0)));
        gmres_options o;
        o.tol = this->tol;
        const auto report = gmres<V, B>(this->on_, *A, M, this->to_backend(s.b), x, o);
        EXPECT_TRUE(report.converged) << report.why;
        return report.iterations;
    };
    const auto by_matching = iterations(*matched_diagonal<V, B>(this->on_, ascending(view(s.A))));
    const auto by_ilut = iterations(*ilut<V, B>(this->on_, ascending(view(s.A))));
    EXPECT_LT(5 * by_ilut, by_matching);
}

TYPED_TEST(incomplete_by_threshold, refuses_what_does_not_suit) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    auto zero_row = laplace2d<V>(3, 3);
    for (offset k = zero_row.row_ptr[4]; k < zero_row.row_ptr[5]; ++k)
        zero_row.val[std::size_t(k)] = V(0);
    const auto rectangle = random<V>(4, 5, 2, 1);
    for (const auto& A : {zero_row, rectangle}) {
        EXPECT_THROW((void)(ilut<V, B>(this->on_, ascending(view(A)))), argument_error);
        EXPECT_THROW((void)(matched_diagonal<V, B>(this->on_, ascending(view(A)))), argument_error);
    }
    const auto good = laplace2d<V>(3, 3);
    EXPECT_THROW((void)(ilut<V, B>(this->on_, ascending(view(good)), {.drop = 1})), argument_error);
    EXPECT_THROW((void)(ilut<V, B>(this->on_, ascending(view(good)), {.fill = -1})),
                 argument_error);
}

/// Numerically singular blocks: pivots give way, nothing is infinite.
TYPED_TEST(incomplete_by_threshold, shifts_pivots_that_vanish) {
    using V = typename TypeParam::V;
    using B = typename TypeParam::B;
    const std::vector<index> row{0, 0, 1, 1}, col{0, 1, 0, 1};
    const auto A = assemble<V>({2, 2}, row, col, host_vector<V>(4, V(1)));
    const auto M = ilut<V, B>(this->on_, ascending(view(A)));
    auto x = this->to_backend(host_vector<V>(2));
    M->apply(V(1), this->to_backend({V(1), V(2)}), V(0), x);
    for (const V v : this->here(x)) EXPECT_TRUE(std::isfinite(std::abs(v)));
}

}  // namespace
}  // namespace nz::test
