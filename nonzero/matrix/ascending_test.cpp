// A matrix is looked at once, where it comes in, and not copied where its rows ascend.
#include "nonzero/matrix/ascending.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <utility>

#include "nonzero/gen/generate.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::test {
namespace {

const csr<double, host> in_order{{2, 3}, {0, 2, 3}, {0, 2, 1}, {1, 2, 3}};
const csr<double, host> disordered{{2, 3}, {0, 3, 4}, {2, 0, 2, 1}, {1, 2, 4, 3}};

TEST(ascending, borrows_rows_that_ascend) {
    const ascending A(view(in_order));
    EXPECT_TRUE(A.given_in_order());
    EXPECT_EQ(A.view().col_ind.data(), in_order.col_ind.data());
    EXPECT_EQ(A.given().val.data(), in_order.val.data());
}

TEST(ascending, has_a_canonical_copy_of_others_and_what_was_given) {
    const ascending A(view(disordered));
    EXPECT_FALSE(A.given_in_order());
    EXPECT_EQ(A.given().col_ind.data(), disordered.col_ind.data());
    EXPECT_EQ(host_vector<index>(A.view().col_ind.begin(), A.view().col_ind.end()),
              (host_vector<index>{0, 2, 1}));
    EXPECT_EQ(host_vector<double>(A.view().val.begin(), A.view().val.end()),
              (host_vector<double>{2, 5, 3}));
}

TEST(ascending, shares_its_copy_and_keeps_what_it_takes) {
    auto other = std::make_unique<ascending<double>>(csr<double, host>(disordered));
    const ascending<double> A = *other;
    other.reset();
    EXPECT_EQ(A.view().val[1], 5);
    EXPECT_EQ(A.given().val[2], 4);
}

TEST(ascending, takes_other_values_of_the_same_pattern) {
    const host_vector<double> values{10, 20, 40, 30};
    const auto before = order_checks();
    const ascending A = ascending(view(disordered)).with_values(values);
    EXPECT_EQ(order_checks() - before, 1);
    EXPECT_EQ(A.view().val[1], 50);
    EXPECT_EQ(A.given().val.data(), values.data());
}

TEST(ascending, transposes_are_in_order_where_the_matrix_is) {
    const ascending A(view(in_order)), B(view(disordered));
    const auto before = order_checks();
    EXPECT_TRUE(transposed(cpu{}, A).given_in_order());
    EXPECT_EQ(order_checks(), before);
    EXPECT_FALSE(transposed(cpu{}, B).given_in_order());  // a column twice
}

TEST(ascending, refuses_what_is_no_csr) {
    const csr<double, host> outside{{2, 3}, {0, 2, 3}, {0, 3, 1}, {1, 2, 3}};
    EXPECT_THROW(ascending(view(outside)), argument_error);
}

/// Rows of no entry, of few and of many, the columns of which ascend by one.
csr<double, host> rows_of_any_length() {
    host_vector<offset> ptr{0};
    const auto add = [&](offset length) { ptr.push_back(ptr.back() + length); };
    for (const offset length : {0, 0, 12'000, 0, 1}) add(length);
    for (offset i = 0; i < 3'000; ++i) add(i * i % 5);
    for (const offset length : {13'000, 0}) add(length);
    csr<double, host> A{{index(ptr.size() - 1), 13'001}, offset_vector(ptr), {}, {}};
    for (std::size_t i = 0; i + 1 < ptr.size(); ++i)
        for (offset k = ptr[i]; k < ptr[i + 1]; ++k) A.col_ind.push_back(index(k - ptr[i] + 1));
    A.val.assign(A.col_ind.size(), 1);
    return A;
}

TEST(ascending, sees_one_wrong_column_wherever_it_stands) {
    auto A = rows_of_any_length();
    ASSERT_TRUE(ascending(view(A)).given_in_order());
    const auto is_refused = [&](std::size_t k, index column) {
        const index right = std::exchange(A.col_ind[k], column);
        bool refused = false;
        try {
            validate(view(A));
        } catch (const argument_error&) {
            refused = true;
        }
        A.col_ind[k] = right;
        return refused;
    };
    for (std::size_t k = 0; k < A.col_ind.size(); ++k) {
        const index right = A.col_ind[k],
                    negative = k % 2 == 0 ? -1 : std::numeric_limits<index>::min();
        EXPECT_EQ(is_refused(k, right - 1), right > 1) << k;  // the column of the entry before
        EXPECT_TRUE(is_refused(k, negative) && is_refused(k, A.shape.cols)) << k;
    }
}

/// How often f reads the indices of a matrix to learn their order.
template <class F>
std::int64_t looks(F f) {
    const auto before = order_checks();
    f();
    return order_checks() - before;
}

TEST(order, is_asked_once_by_what_takes_a_matrix) {
    const auto A = laplace2d<double>(40, 40);
    const ascending known(view(A));
    EXPECT_EQ(looks([&] { (void)make_plan(A, cpu{}); }), 1);
    EXPECT_EQ(looks([&] { (void)make_plan(A, cpu{}, {.transposed = true}); }), 1);
    EXPECT_EQ(looks([&] { (void)plan_and_build(A, cpu{}, {.transposed = true}); }), 1);
    const auto p = make_plan(A, cpu{});
    EXPECT_EQ(looks([&] { (void)build(p, A); }), 1);
    EXPECT_EQ(looks([&] { (void)build(make_plan(known, cpu{}), known); }), 0);
    EXPECT_EQ(looks([&] { (void)plan_and_build(known, cpu{}, {.transposed = true}); }), 0);
}

TEST(order, is_asked_once_in_a_whole_solve) {
    const auto A = laplace2d<double>(60, 60);
    const host_vector<double> b(std::size_t(A.shape.rows), 1);
    const auto solved_by = [&](std::optional<preconditioning> p) {
        host_vector<double> x(b.size(), 0);
        system_options o;
        o.preconditioner = p;
        EXPECT_TRUE(solve<double>(cpu{}, view(A), b, x, o).converged());
    };
    using enum preconditioning;
    EXPECT_EQ(looks([&] { solved_by({}); }), 1);
    for (const auto p : {none, jacobi, block_jacobi, gauss_seidel, amg})
        EXPECT_EQ(looks([&] { solved_by(p); }), 1) << name_of(p);
}

}  // namespace
}  // namespace nz::test
