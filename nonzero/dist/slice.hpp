// The rows of a matrix that one rank holds.
#pragma once

#include "nonzero/core/communicator.hpp"
#include "nonzero/dist/shares.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// One rank's rows of a matrix that is shared out over ranks by rows; vectors x are shared out as
/// its columns are, vectors y as its rows.
template <class V>
struct matrix_slice {
    shares rows;       ///< who holds which rows
    shares cols;       ///< who holds which elements of x; of a square matrix the same as rows
    csr<V, host> own;  ///< this rank's rows, columns numbered as in the whole matrix

    [[nodiscard]] nz::shape shape() const { return {rows.total(), cols.total()}; }  ///< of all
};

/// This rank's rows of a matrix that every rank has as a whole: ranges of about as many
/// entries each; the columns, where
/// the matrix is not square, in equal ranges. Called by all ranks. Throws argument_error, on all of
/// them, where A is no CSR or of another size on another rank.
template <class V>
matrix_slice<V> slice_of(const communicator& ranks, const csr<V, host_view>& A);

/// From each rank's own rows, columns numbered as in the whole matrix. Columns are shared out as
/// rows where the matrix is square, else in equal ranges. Called by all ranks. Throws
/// argument_error, on all of them, where `own` is no CSR or ranks tell of different columns.
template <class V>
matrix_slice<V> slice_from(const communicator& ranks, csr<V, host> own);

/// This rank's elements of a vector that every rank has as a whole.
template <class V>
std::span<const V> slice_of(const shares& all, int rank, std::span<const V> v) {
    return v.subspan(std::size_t(all.of(rank).first), std::size_t(all.count(rank)));
}

/// The whole vector on rank 0, from each rank's own elements; empty on the others. Called by all
/// ranks.
template <class V>
host_vector<V> joined(const communicator& ranks, std::span<const V> own);

}  // namespace nz
