#include "nonzero/gen/tiled.hpp"

#include <algorithm>

#include "nonzero/gen/rows.hpp"

namespace nz {

template <class V>
csr<V, host> tiled(const csr<V, host_view>& A, std::int64_t copies) {
    const shape whole{checked_size("tiled: rows", {A.shape.rows, copies}),
                      checked_size("tiled: columns", {A.shape.cols, copies})};
    const double entry_bytes = sizeof(V) + sizeof(index), row_bytes = 2 * sizeof(offset);
    expect_memory("the tiled matrix", double(bytes(A)) + double(whole.rows) * row_bytes +
                                          double(A.val.size()) * double(copies) * entry_bytes);
    const auto row_of_A = [&](index i) { return std::size_t(i % A.shape.rows); };
    return from_counts<V>(
        whole, [&](index i) { return A.row_ptr[row_of_A(i) + 1] - A.row_ptr[row_of_A(i)]; },
        [&](index i, index* col, V* val) {
            const auto first = std::size_t(A.row_ptr[row_of_A(i)]);
            const auto last = std::size_t(A.row_ptr[row_of_A(i) + 1]);
            const index shift = i / A.shape.rows * A.shape.cols;
            for (std::size_t k = first; k < last; ++k) *col++ = A.col_ind[k] + shift;
            std::copy_n(A.val.data() + first, last - first, val);
        });
}

std::int64_t copies_for(std::int64_t entries, std::size_t nnz) {
    expect(entries >= 1, "tiled: expected 1 entry or more");
    expect(nnz >= 1, "tiled: the matrix has no entries, and neither have its copies");
    return (entries - 1) / std::int64_t(nnz) + 1;
}

#define NZ_INSTANTIATE(V) template csr<V, host> tiled(const csr<V, host_view>&, std::int64_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
