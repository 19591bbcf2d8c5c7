// Entries of a matrix that come to a rank in no order, brought to the ranks whose rows they are in.
#pragma once

#include <optional>

#include "nonzero/dist/slice.hpp"

namespace nz {

/// One entry; rows and columns numbered as in the whole matrix.
template <class V>
struct entry {
    index row, col;
    V val;
};

/// Ranges of about as many entries each, as balanced_shares has them of the whole matrix. lengths:
/// of this rank's rows where all are in equal_shares. Called by all ranks.
shares balanced_shares(const communicator& ranks, index rows, std::span<const index> lengths);

/// The same where each entry is on one rank, in no order. Indices must lie inside the matrix.
template <class V>
shares balanced_shares(const communicator& ranks, index rows, std::span<const entry<V>> mine);

/// The rows of this rank from the entries of all. Entries in one place are summed in rank order
/// and, of one rank, in the order given. Columns ascend. Called by all ranks, each entry given by
/// one of them; indices must lie inside the matrix. Throws out_of_memory on all ranks.
template <class V>
csr<V, host> assembled(const communicator& ranks, const shares& rows, index cols,
                       host_vector<entry<V>> mine);

/// A^T of a matrix that is shared out, shared out as A's columns are. Called by all ranks.
template <class V>
matrix_slice<V> transpose(const communicator& ranks, const matrix_slice<V>& A);

/// An entry that does not mirror the one across the diagonal; that is 0 where none is stored.
template <class V>
struct asymmetry {
    index row, col;  ///< as in the whole matrix
    V here, across;
};

/// The first one by rows of a square A, up to symmetry_tolerance of its largest value (of float
/// values: 1e-4), as is_symmetric of a whole matrix. Called by all ranks; all get the same.
template <class V>
std::optional<asymmetry<V>> first_asymmetry(const communicator& ranks, const matrix_slice<V>& A);

/// Whether A is symmetric (hermitian), up to the same. Called by all ranks; all get the same.
template <class V>
bool is_symmetric(const communicator& ranks, const matrix_slice<V>& A) {
    return A.rows == A.cols && !first_asymmetry(ranks, A);
}

}  // namespace nz
