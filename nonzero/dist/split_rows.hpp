// A rank's rows in the two parts that `distributed` multiplies by.
#pragma once

#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/slice.hpp"

namespace nz {

/// One rank's rows of a shared-out matrix: what is in its own columns, in memory of space S, and
/// the few entries that are in others'.
template <class V, class S = host>
struct split_rows {
    shares rows, cols;
    nz::halo halo;            ///< the columns of `others`
    host_vector<index> edge;  ///< own rows with entries in others' columns: the rows of `others`
    csr<V, S> local;          ///< columns numbered from the first own one
    csr<V, host> others;      ///< empty where there are none
    bool in_order = false;    ///< the rows of both are known to ascend
};

/// The entries in others' columns are taken out of A in place, so that no rank holds its rows
/// twice. Called by all ranks. Throws argument_error, on all of them, where A is no CSR or not the
/// rank's share.
template <class V>
split_rows<V> split(cpu on, const communicator& ranks, matrix_slice<V> A);

/// The same where a GPU takes a copy of A apart, which it must have memory for: three times A's, in
/// on.stream. Duplicates are summed. Values are float or double.
template <class V>
split_rows<V, device> split(gpu on, const communicator& ranks, const matrix_slice<V>& A);
/// Whether every rank's GPU has memory for that, and for the product beside it.
template <class V>
bool fits_to_split(gpu on, const communicator& ranks, const matrix_slice<V>& A);

/// Rows that are numbered locally. cols: how their columns are shared out. block: the own columns.
template <class V, class C>
split_rows<V, typename C::memory> split(C here, const shares& rows, const shares& cols,
                                        nz::halo halo, const csr<V, typename C::memory>& A,
                                        csr<V, typename C::memory> block);

}  // namespace nz
