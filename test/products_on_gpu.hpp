// Products of an operator on a GPU, held against the oracle.
#pragma once

#include <gtest/gtest.h>

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/oracle.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::test {

/// Y = 2 A X - Y with `op`, of two vectors at once and by one, twice with the same bits.
template <class V>
void expect_right_products(gpu on, const linear_operator<V, gpu>& op, const csr<V, host>& A) {
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    host_vector<V> X(2 * cols, V(0)), Y(2 * rows, V(3));
    for (std::size_t k = 0; k < X.size(); ++k) X[k] = V(1) / V(1 + k % 37);
    const auto x = to_device<V>(on, X);
    auto y = to_device<V>(on, Y), again = to_device<V>(on, Y);
    op.apply(V(2), {x.data(), cols}, V(-1), {y.data(), rows});
    op.apply(V(2), {x.data(), cols}, V(-1), {again.data(), rows});
    auto many = to_device<V>(on, Y);
    op.apply_many(V(2), {x, cols, 2}, V(-1), {many, rows, 2});
    const auto got = to_host<V>(on, y), both = to_host<V>(on, many);
    EXPECT_EQ(got, to_host<V>(on, again));
    const auto expect_column = [&](std::size_t k, std::span<const V> of) {
        const auto want = reference_product<V>(transposition::plain, V(2), view(A),
                                               std::span<const V>(X).subspan(k * cols, cols), V(-1),
                                               std::span<const V>(Y).subspan(k * rows, rows));
        EXPECT_TRUE(compare<V>(of, want).holds());
    };
    expect_column(0, std::span<const V>(got).first(rows));
    expect_column(0, std::span<const V>(both).first(rows));
    expect_column(1, std::span<const V>(both).subspan(rows, rows));
}

}  // namespace nz::test
