// The lectures' own examples, array for array as the slides print them. Their * is our padding.
#include <gtest/gtest.h>

#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/hyb/hyb.hpp"

namespace nz::test {
namespace {

constexpr double pad = -99;  // not a value of any of the matrices

/// The n x m matrix whose rows are given, zeros left out.
csr<double, host> sparse(std::initializer_list<std::initializer_list<double>> rows) {
    csr<double, host> A{{index(rows.size()), index(rows.begin()->size())}, {}, {}, {}};
    host_vector<offset> ptr{0};
    for (const auto& row : rows) {
        for (index j = 0; const double v : row) {
            if (v != 0) A.col_ind.push_back(j), A.val.push_back(v);
            ++j;
        }
        ptr.push_back(offset(A.val.size()));
    }
    A.row_ptr = offset_vector(ptr);
    return A;
}

using indices = host_vector<index>;
using values = host_vector<double>;

// CS121 2023.
csr<double, host> cs121() {
    return sparse({{1, 7, 0, 0}, {0, 2, 8, 0}, {5, 0, 3, 9}, {0, 6, 0, 4}});
}

/// The first `rows` of every stretch of `pitch`: what the slides, which do not align, print.
template <class T>
host_vector<T> unaligned(const host_vector<T>& v, offset pitch, index rows) {
    host_vector<T> out;
    for (std::size_t k = 0; k < v.size(); k += std::size_t(pitch))
        out.insert(out.end(), v.begin() + std::ptrdiff_t(k), v.begin() + std::ptrdiff_t(k) + rows);
    return out;
}

TEST(cs121, dia) {
    const auto D = dia<double, host>::from(view(cs121()));
    EXPECT_EQ(D.pitch, 32);
    EXPECT_EQ(D.offsets, (indices{-2, 0, 1}));
    values data = unaligned(D.diagonals, D.pitch, 4);
    ASSERT_EQ(D.stored.size(), 3u);
    for (std::size_t d = 0; d < 3; ++d)
        for (std::size_t i = 0; i < 4; ++i)
            if ((D.stored[d] >> i & 1) == 0) data[4 * d + i] = pad;
    EXPECT_EQ(data, (values{pad, pad, 5, 6, 1, 2, 3, 4, 7, 8, 9, pad}));
    for (const std::uint32_t word : D.stored) EXPECT_EQ(word >> 4, 0u) << "rows beyond the last";
}

// The slides' kernel skips values equal to 0 where ours skips the column -1: a stored zero is not
// padding, as it makes NaN of an infinity.
TEST(cs121, ell) {
    const auto E = ell<double, host>::from(view(cs121()));
    EXPECT_EQ(E.width, 3);
    EXPECT_EQ(E.pitch, 32);
    EXPECT_EQ(unaligned(E.col_ind, E.pitch, 4), (indices{0, 1, 0, 1, 1, 2, 2, 3, -1, -1, 3, -1}));
    EXPECT_EQ(unaligned(E.val, E.pitch, 4), (values{1, 2, 5, 6, 7, 8, 3, 4, 0, 0, 9, 0}));
    for (std::size_t k = 0; k < E.col_ind.size(); ++k)
        EXPECT_TRUE(k % 32 < 4 || E.col_ind[k] == -1) << "rows beyond the last";
}

TEST(cs121, coo) {
    const auto C = coo<double, host>::from(view(cs121()));
    EXPECT_EQ(C.row_ind, (indices{0, 0, 1, 1, 2, 2, 2, 3, 3}));
    EXPECT_EQ(C.col_ind, (indices{0, 1, 1, 2, 0, 2, 3, 1, 3}));
    EXPECT_EQ(C.val, (values{1, 7, 2, 8, 5, 3, 9, 6, 4}));
}

// The slide says that ptr has one element a row, and prints one more, which its kernel reads.
TEST(cs121, csr) {
    const auto A = cs121();
    EXPECT_EQ(A.row_ptr, (offset_vector{0, 2, 4, 7, 9}));
    EXPECT_EQ(A.col_ind, (indices{0, 1, 1, 2, 0, 2, 3, 1, 3}));
    EXPECT_EQ(A.val, (values{1, 7, 2, 8, 5, 3, 9, 6, 4}));
}

// Most rows have L = 2 entries: those are the ELL, and the third of row 2 is the COO.
TEST(cs121, hyb) {
    const auto H = hyb<double, host>::from(view(cs121()));
    EXPECT_EQ(H.split_width, 2);
    EXPECT_EQ(H.ell.width, 2);
    EXPECT_EQ(unaligned(H.ell.col_ind, H.ell.pitch, 4), (indices{0, 1, 0, 1, 1, 2, 2, 3}));
    EXPECT_EQ(unaligned(H.ell.val, H.ell.pitch, 4), (values{1, 2, 5, 6, 7, 8, 3, 4}));
    EXPECT_EQ(H.coo.row_ind, (indices{2}));
    EXPECT_EQ(H.coo.col_ind, (indices{3}));
    EXPECT_EQ(H.coo.val, (values{9}));
}

// ECE408 2020, lecture 19, and PMPP chapter 10: the same matrix, row 1 empty.
csr<double, host> ece408() {
    return sparse({{3, 0, 1, 0}, {0, 0, 0, 0}, {0, 2, 4, 1}, {1, 0, 0, 1}});
}

TEST(ece408, coo) {
    const auto C = coo<double, host>::from(view(ece408()));
    EXPECT_EQ(C.val, (values{3, 1, 2, 4, 1, 1, 1}));
    EXPECT_EQ(C.col_ind, (indices{0, 2, 1, 2, 3, 0, 3}));
    // The slide prints a fourth 2: eight rows, though it declares seven and has seven values.
    EXPECT_EQ(C.row_ind, (indices{0, 0, 2, 2, 2, 3, 3}));
}

// PMPP chapter 10 gives the rows as data[0:2], [2:2], [2:5] and [5:7].
TEST(pmpp, csr) {
    const auto A = ece408();
    EXPECT_EQ(A.row_ptr, (offset_vector{0, 2, 2, 5, 7}));
    EXPECT_EQ(A.col_ind, (indices{0, 2, 1, 2, 3, 0, 3}));
    EXPECT_EQ(A.val, (values{3, 1, 2, 4, 1, 1, 1}));
}

// Calzetta and Lori 2025; a to g are 1 to 7. Assembled from triplets given by columns.
TEST(calzetta_lori, csr) {
    const double a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7;
    const indices row{0, 1, 0, 2, 0, 2, 3}, col{0, 1, 2, 2, 3, 3, 3};
    const values val{a, d, b, e, c, f, g};
    const auto A = assemble<double>({4, 4}, row, col, val);
    EXPECT_EQ(A.row_ptr, (offset_vector{0, 3, 4, 6, 7}));
    EXPECT_EQ(A.col_ind, (indices{0, 2, 3, 1, 2, 3, 3}));
    EXPECT_EQ(A.val, (values{a, b, c, d, e, f, g}));
}

}  // namespace
}  // namespace nz::test
