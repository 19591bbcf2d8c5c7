// A^T by way of groups of columns, where entries scatter, is A^T.
#include <gtest/gtest.h>

#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/gen/generate.hpp"
#include "test/zoo.hpp"

namespace nz {
namespace {

/// One entry after the other.
template <class V>
csr<V, host> naive_transpose(const csr<V, host>& A) {
    host_vector<offset> next(std::size_t(A.shape.cols) + 1);
    next.assign(next.size(), 0);
    for (const index j : A.col_ind) ++next[std::size_t(j) + 1];
    for (std::size_t j = 1; j < next.size(); ++j) next[j] += next[j - 1];
    csr<V, host> T{
        {A.shape.cols, A.shape.rows}, offset_vector(next), A.col_ind, A.val};  // of those sizes
    for (index i = 0; i < A.shape.rows; ++i)
        for (offset k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k) {
            const auto to = std::size_t(next[std::size_t(A.col_ind[std::size_t(k)])]++);
            T.col_ind[to] = i, T.val[to] = A.val[std::size_t(k)];
        }
    return T;
}

template <class V>
void expect_transposed(const csr<V, host>& A) {
    const auto expected = naive_transpose(A);
    for (const int threads : {1, 2, 3, 8}) {
        const auto T = transposed(cpu{threads}, view(A));
        EXPECT_EQ(T.shape, expected.shape);
        EXPECT_EQ(T.row_ptr, expected.row_ptr);
        EXPECT_EQ(T.col_ind, expected.col_ind);
        EXPECT_EQ(T.val, expected.val);
    }
}

/// Columns by a power law in no order, also twice in a row.
template <class V>
csr<V, host> scattered(index rows, index cols, index per_row) {
    std::mt19937_64 rng(3);
    std::uniform_real_distribution<double> u(0, 1);
    csr<V, host> A{{rows, cols}, {}, {}, {}};
    host_vector<offset> ptr{0};
    for (index i = 0; i < rows; ++i) {
        const auto n = index(u(rng) * 2 * per_row);
        for (index k = 0; k < n; ++k) {
            A.col_ind.push_back(index(u(rng) * u(rng) * cols));
            A.val.push_back(test::random_value<V>(rng));
        }
        ptr.push_back(offset(A.val.size()));
    }
    A.row_ptr = offset_vector(ptr);
    return A;
}

TEST(transposed, of_entries_that_scatter_has_them_in_order) {
    expect_transposed(scattered<double>(100'000, 70'000, 13));
    expect_transposed(scattered<std::complex<float>>(300, 200'000, 8000));
    expect_transposed(scattered<float>(1'400'000, 100'000, 1));
}

TEST(transposed, of_entries_side_by_side_has_them_in_order) {
    expect_transposed(laplace2d<double>(500, 600));
    for (const auto& z : test::zoo<double>()) expect_transposed(z.A);
}

}  // namespace
}  // namespace nz
