// Preconditioners of a rank's rows together with some of its neighbours': additive Schwarz methods.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/formats/linear_operator.hpp"

namespace nz {

/// A rank's own rows of a square matrix, the rows of others that its entries lead to in `overlap`
/// steps, and the columns of the same numbers.
template <class V>
struct overlapping_block {
    host_vector<index> rows;  ///< their numbers in the whole matrix, ascending
    index before = 0;         ///< how many come before the own ones
    csr<V, host> A;           ///< square, numbered as `rows`; columns ascend as in the slice
};

/// Called by all ranks, with the same overlap, 0 or more. Rows of the slice ascend.
template <class V>
overlapping_block<V> overlapping(const communicator& ranks, const matrix_slice<V>& A, int overlap);

/// Sums of the blocks' results where blocks overlap: parts of x taken, parts of y given. R_r picks
/// the rows of rank r's block, M_r is its preconditioner.
enum class schwarz_sum {
    /// y = sum of Q_r^T M_r R_r x, where Q_r leaves only the rank's own rows: each element of y is
    /// that of the rank that owns it. Not symmetric.
    restricted,
    /// y = sum of D^1/2 R_r^T M_r R_r D^1/2 x, where D divides each row by the number of blocks
    /// that have it. Symmetric, and definite where all M_r are.
    symmetric,
};

/// The operator of all ranks' M. M: of the rank's block of those rows; rows: who owns which. All
/// ranks apply it together. Same bits in every run with as many ranks.
///
/// Sends    the elements of x of the overlap, once; symmetric: those of y as well.
/// Source   Cai and Sarkis 1999, doi:10.1137/S106482759732678X (restricted); Saad 2003, section
///          14.3.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> schwarz(B on, const shares& rows,
                                               const overlapping_block<V>& block, schwarz_sum,
                                               std::unique_ptr<linear_operator<V, B>> M);

}  // namespace nz
