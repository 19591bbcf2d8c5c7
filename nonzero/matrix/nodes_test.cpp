// Nodes of several unknowns: found where they are, and nowhere else.
#include "nonzero/matrix/nodes.hpp"

#include <gtest/gtest.h>

#include "nonzero/core/format.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/gen/problems.hpp"
#include "test/zoo.hpp"

namespace nz::test {
namespace {

/// On the CPU, and the same on a GPU where there is one.
template <class V>
index found_in(const csr<V, host>& A) {
    const index found = unknowns_a_node(cpu{}, nullptr, view(A), A.shape.rows);
    if constexpr (has_cuda) {
        if (!why_no_gpu().empty()) return found;
        const auto there = upload(gpu{}, A);
        EXPECT_EQ(unknowns_a_node(gpu{}, view(there)), found);
    }
    return found;
}

/// A without its zeros.
csr<double, host> without_zeros(const csr<double, host>& A) {
    host_vector<index> row, col;
    host_vector<double> val;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double v) {
        if (std::abs(v) > 1e-14) row.push_back(i), col.push_back(j), val.push_back(v);
    });
    return assemble<double>(A.shape, row, col, val);
}

/// Every entry v of A as a block of b x b: v on its diagonal, `beside` v elsewhere.
csr<double, host> in_blocks(const csr<double, host>& A, index b, double beside) {
    host_vector<index> row, col;
    host_vector<double> val;
    for_each_entry(view(A), 0, A.shape.rows, [&](index i, index j, double v) {
        for (index p = 0; p < b; ++p)
            for (index q = 0; q < b; ++q) {
                row.push_back(i * b + p), col.push_back(j * b + q);
                val.push_back(p == q ? v : beside * v);
            }
    });
    return assemble<double>({A.shape.rows * b, A.shape.cols * b}, row, col, val);
}

TEST(unknowns_a_node, are_three_of_elasticity_in_space) {
    const auto A = elasticity3d<double>(9, 8, 7, 0.3);
    EXPECT_EQ(found_in(A), 3);
    EXPECT_EQ(found_in(without_zeros(A)), 3);
    EXPECT_EQ(found_in(elasticity3d<float>(9, 8, 7, 0.3)), 3);
    EXPECT_EQ(found_in(elasticity3d<std::complex<double>>(9, 8, 7, 0.3)), 3);
}

TEST(unknowns_a_node, are_as_many_as_the_blocks_have_rows) {
    for (const index b : {2, 3, 6})
        EXPECT_EQ(found_in(in_blocks(laplace2d<double>(30, 30), b, 0.3)), b);
    EXPECT_EQ(found_in(in_blocks(laplace2d<double>(30, 30), 4, 0.3)), 2);
    EXPECT_EQ(found_in(in_blocks(laplace2d<double>(30, 30), 5, 0.3)), 1);
}

TEST(unknowns_a_node, are_one_of_a_free_body) {
    auto free = in_blocks(laplace2d<double>(30, 30), 2, 0.3);
    EXPECT_EQ(found_in(free), 2);
    for (index i = 0; i < free.shape.rows; ++i) {  // rows of each unknown sum to zero
        double sums[2] = {};
        for (auto k = std::size_t(free.row_ptr[std::size_t(i)]);
             k < std::size_t(free.row_ptr[std::size_t(i) + 1]); ++k)
            sums[free.col_ind[k] % 2] += free.val[k];
        for (auto k = std::size_t(free.row_ptr[std::size_t(i)]);
             k < std::size_t(free.row_ptr[std::size_t(i) + 1]); ++k)
            if (free.col_ind[k] / 2 == i / 2) free.val[k] -= sums[free.col_ind[k] % 2];
    }
    EXPECT_EQ(found_in(free), 1);
}

TEST(unknowns_a_node, are_one_of_scalar_problems) {
    EXPECT_EQ(found_in(laplace2d<double>(60, 60)), 1);
    EXPECT_EQ(found_in(laplace3d<double>(12, 12, 12)), 1);
    // Neighbours of one row and of the next are in the same pairs, but constants are felt.
    const auto wide =
        from_rule<double>(600, 600, [](index i, index j, double) { return std::abs(i - j) <= 2; });
    EXPECT_EQ(found_in(wide), 1);
    EXPECT_EQ(found_in(csr<double, host>{{0, 0}, {0}, {}, {}}), 1);
    EXPECT_EQ(found_in(csr<double, host>{{6, 6}, {0, 0, 0, 0, 0, 0, 0}, {}, {}}), 1);
}

TEST(unknowns_a_node, are_found_where_one_node_in_twenty_is_held) {
    auto A = in_blocks(laplace2d<double>(40, 40), 2, 0.3);
    for (index i = 0; i < A.shape.rows; i += 40)  // one unknown of the node
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            A.val[k] = A.col_ind[k] == i;
    EXPECT_EQ(found_in(A), 2);
    EXPECT_EQ(found_in(without_zeros(A)), 2);
}

}  // namespace
}  // namespace nz::test
