// Orders of a matrix's rows and columns that bring its entries together.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// order[k] is the row (and column) of A that comes k-th. A permutation of 0 to n - 1.
using ordering = host_vector<index>;

/// Reverse Cuthill-McKee of the graph of A + A^T, whatever the values: level by level from the rim
/// of each component, so that neighbours get near numbers. Components follow each other as their
/// first nodes do. Deterministic; O(nnz log). Throws argument_error where A is malformed or not
/// square. Source: Saad 2003, section 3.3.3; where a component starts: George and Liu 1979.
template <class V>
ordering reverse_cuthill_mckee(const csr<V, host_view>& A);

/// P A P^T: entry (k, l) is A's (order[k], order[l]). Canonical. Throws argument_error where A is
/// malformed or not square, or `order` no permutation of its rows.
template <class V>
csr<V, host> reordered(const csr<V, host_view>& A, const ordering& order);

/// P v, as the reordered matrix has its unknowns; and P^T v, as A has them. Both throw as above.
template <class V>
host_vector<V> reordered(std::span<const V> v, const ordering& order);
template <class V>
host_vector<V> restored(std::span<const V> v, const ordering& order);

}  // namespace nz
