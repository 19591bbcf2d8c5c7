// Parts of a matrix's rows that one rank needs no other for.
#pragma once

#include "nonzero/dist/slice.hpp"

namespace nz {

/// The rows [first, last) of A, its columns as they are.
template <class V>
csr<V, host> rows_of(const csr<V, host_view>& A, range rows);

/// The square block of own rows and own columns, columns numbered from this rank's first: what a
/// preconditioner that needs no other rank is made of. rank: whose slice it is.
template <class V>
csr<V, host> own_block(const matrix_slice<V>& A, int rank);
/// The diagonal of a square matrix in own rows; 0 where no entry is stored, the sum of several.
template <class V>
host_vector<V> own_diagonal(const matrix_slice<V>& A, int rank);

}  // namespace nz
