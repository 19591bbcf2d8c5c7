// Matrices whose symmetry their values tell, and not which of them are stored.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/gen/generate.hpp"

namespace nz::test {

template <class V>
struct mirrored_matrix {
    std::string name;
    csr<V, host> A;
    bool is_symmetric;  ///< hermitian, where complex
};

/// A with its entries and these after them in their rows, in no order.
template <class V>
csr<V, host> with_entries(const csr<V, host>& A,
                          const std::vector<std::tuple<index, index, V>>& more) {
    csr<V, host> all{A.shape, {}, {}, {}};
    host_vector<offset> row_ptr{0};
    for (index i = 0; i < A.shape.rows; ++i) {
        for_each_entry(view(A), i, i + 1, [&](index, index j, V v) {
            all.col_ind.push_back(j), all.val.push_back(v);
        });
        for (const auto& [row, col, v] : more)
            if (row == i) all.col_ind.push_back(col), all.val.push_back(v);
        row_ptr.push_back(offset(all.val.size()));
    }
    all.row_ptr = offset_vector(row_ptr);
    return all;
}

/// All are of the same 2-D Laplacian, whose diagonal is 4: positive definite where symmetric.
template <class V>
std::vector<mirrored_matrix<V>> mirrored_matrices() {
    const auto A = laplace2d<V>(6, 5);
    const double epsilon = std::numeric_limits<real<V>>::epsilon();
    const V big = V(real<V>(1e18));
    // (0, 9) and (9, 0) are not stored in A, (0, 1) and (1, 0) hold -1.
    std::vector<mirrored_matrix<V>> all{
        {"as it is", A, true},
        {"zero stored above", with_entries<V>(A, {{0, 9, V(0)}}), true},
        {"zero stored below", with_entries<V>(A, {{9, 0, V(0)}}), true},
        {"negative zero stored", with_entries<V>(A, {{9, 0, -V(0)}}), true},
        {"duplicates that cancel", with_entries<V>(A, {{3, 20, V(2)}, {3, 20, V(-2)}}), true},
        {"duplicates on one side", with_entries<V>(A, {{0, 1, V(-1)}, {1, 0, V(-2)}, {1, 0, V(1)}}),
         true},
        {"duplicates that differ", with_entries<V>(A, {{0, 1, V(-1)}, {1, 0, V(-2)}}), false},
        {"rounded", with_entries<V>(A, {{0, 1, V(real<V>(4 * epsilon))}}), true},
        {"one side only", with_entries<V>(A, {{0, 9, V(1)}}), false},
        {"the other side only", with_entries<V>(A, {{29, 2, V(1)}}), false},
        {"one side, beside a penalty", with_entries<V>(A, {{5, 5, big}, {0, 9, V(1)}}), false},
        {"one side of a penalty's row", with_entries<V>(A, {{5, 5, big}, {9, 5, V(1)}}), false},
        {"a zero beside a penalty", with_entries<V>(A, {{5, 5, big}, {9, 5, V(0)}}), true},
    };
    // Dirichlet rows and columns that were zeroed, where an assembly left only the rows' entries.
    auto zeroed = A;
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if ((i == 7 || A.col_ind[k] == 7) && A.col_ind[k] != i) zeroed.val[k] = V(0);
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(view(zeroed), 0, A.shape.rows, [&](index i, index j, V v) {
        if (v != V(0) || i == 7) row.push_back(i), col.push_back(j), val.push_back(v);
    });
    all.push_back({"row that was zeroed", assemble<V>(A.shape, row, col, val), true});
    if constexpr (is_complex<V>) {
        const V i(0, 1);
        all.push_back({"hermitian", with_entries<V>(A, {{0, 9, i}, {9, 0, -i}}), true});
        all.push_back({"complex symmetric", with_entries<V>(A, {{0, 9, i}, {9, 0, i}}), false});
        all.push_back({"imaginary zero", with_entries<V>(A, {{9, 0, V(0, 0)}}), true});
    }
    return all;
}

}  // namespace nz::test
