// Patterns of incomplete factors, by level of fill.
#pragma once

#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// A with zeros stored where an entry couples two nodes of `block` unknowns and not all of these.
/// Unknowns are counted from A's first row on, which is unknown first_row; the first and the last
/// node may lie in A in part. A: square. Throws argument_error where block is not 1 to 64. Same
/// bits for any number of threads.
template <class V>
ascending<V> in_whole_nodes(cpu on, const ascending<V>& A, index block, index first_row);

/// Entries that row i of an upper factor has behind the diagonal, for every row: those columns j
/// that a path of A leads to from i, over `level` rows at most, all of them before both i and j.
/// So many levels of fill the sum rule gives the entry, and each row is found by itself. Columns
/// ascend; values are not set. Same bits for any number of threads.
/// Source   Saad 2003, section 10.3.3 (levels of fill); Hysom and Pothen 2001,
///          doi:10.1137/S1064827500376193 (paths).
template <class V>
csr<V, host> upper_fill(cpu on, const csr<V, host_view>& A, int level);

/// Rows of both factors in one matrix, its diagonal between them.
template <class V>
struct filled_rows {
    csr<V, host> rows;             ///< columns ascend, the diagonal always among them
    host_vector<offset> ptr;       ///< rows.row_ptr, in 8 bytes each
    host_vector<offset> diagonal;  ///< where each row's is
};
/// The pattern of an incomplete factorisation of A, with A's values and zeros elsewhere.
template <class V>
filled_rows<V> filled(cpu on, const ascending<V>& A, int level);

/// The entries of each row before its diagonal, and those behind it, from the last to the first:
/// towards the diagonal.
template <class V>
csr<V, host> before_diagonal(cpu on, const filled_rows<V>& F);
template <class V>
csr<V, host> behind_diagonal(cpu on, const filled_rows<V>& F);

}  // namespace nz
