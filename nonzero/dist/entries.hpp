// Entries of a matrix that come to a rank in no order, brought to the ranks whose rows they are in.
#pragma once

#include <string>

#include "nonzero/dist/slice.hpp"
#include "nonzero/matrix/mirror.hpp"

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

/// Empty where A is symmetric (hermitian), else why not, in the words of the one of a whole matrix.
/// Called by all ranks; all get the same.
template <class V>
std::string why_not_symmetric(const communicator& ranks, const matrix_slice<V>& A);

/// Whether why_not_symmetric finds nothing.
template <class V>
bool is_symmetric(const communicator& ranks, const matrix_slice<V>& A) {
    return why_not_symmetric(ranks, A).empty();
}

}  // namespace nz
