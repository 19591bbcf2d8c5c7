// The entries of a CSR one by one, and the CSR that any format stands for.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The number of independent pieces of stored entries: the rows of A.
template <class V>
std::int64_t piece_count(const csr<V, host_view>& A) {
    return A.shape.rows;
}
/// f(row, column, value) for every stored entry of the pieces [first, last), padding left out.
template <class V, class F>
void for_each_entry(const csr<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (auto i = std::size_t(first); i < std::size_t(last); ++i)
        for (auto k = std::size_t(A.row_ptr[i]); k < std::size_t(A.row_ptr[i + 1]); ++k)
            f(index(i), A.col_ind[k], A.val[k]);
}

/// The matrix that any format stands for, bit for bit; columns ascending.
/// F is a host format's view, with piece_count and for_each_entry.
template <class F>
auto to_csr(const F& A) {
    using V = typename F::value;
    host_vector<index> row, col;
    host_vector<V> val;
    for_each_entry(A, 0, piece_count(A), [&](index i, index j, V v) {
        row.push_back(i);
        col.push_back(j);
        val.push_back(v);
    });
    return assemble<V>(A.shape, row, col, val);
}

}  // namespace nz
