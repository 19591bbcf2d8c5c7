// Compressed sparse row (CSR): the hub through which every format is built.
#pragma once

#include <array>

#include "nonzero/core/error.hpp"
#include "nonzero/core/shape.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

struct estimate;      // formats/estimate.hpp
struct matrix_stats;  // formats/matrix_stats.hpp

/// Compressed sparse row: the nonzeros row after row, and where each row starts.
///
///         | 1 . 2 |      row_ptr = 0   2 3   5
///     A = | . 3 . |      col_ind = 0 2 1 0 2
///         | 4 . 5 |      val     = 1 2 3 4 5
///
/// A view borrows a user's arrays as they are; its row_ptr may be 32 or 64 bits wide.
///
/// Moves    nnz * (|V| + 4) + (rows + 1) * 4 bytes of matrix a product (8 a row past 2^31
///          nonzeros).
/// Suits    every matrix.
/// Source   CS121 2023, ECE408 2020, PMPP chapter 10; Saad 2003, section 3.4.
template <class V, class S>
struct csr {
    using value = V;
    using space = S;
    template <class T>
    using in_space = csr<V, T>;

    nz::shape shape;           ///< size of the matrix                             [rows x cols]
    array<offset, S> row_ptr;  ///< rows + 1, non-decreasing; row i is [row_ptr[i], row_ptr[i+1])
    array<index, S> col_ind;   ///< nnz, in [0, cols); ascending within a row, or in any order
    array<V, S> val;           ///< nnz

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) { return std::tie(a.row_ptr, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"row_ptr", "col_ind", "val"};

    static estimate cost(const matrix_stats&);
    static csr<V, host> from(const csr<V, host_view>&);
};

/// The CSR of unordered triplets: rows sorted, columns ascending, duplicates summed in the order
/// given, explicit zeros kept. Throws argument_error where lengths differ or an index is outside.
template <class V>
csr<V, host> assemble(shape, std::span<const index> row, std::span<const index> col,
                      std::span<const V> val);

}  // namespace nz
