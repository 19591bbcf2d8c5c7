// Orders of a matrix's rows and columns that bring its entries together.
#pragma once

#include "nonzero/graph/adjacency.hpp"

namespace nz {

/// order[k] is the row (and column) of A that comes k-th. A permutation of 0 to n - 1.
using ordering = host_vector<index>;

/// Reverse Cuthill-McKee: level by level from the rim of each component, so that neighbours get
/// near numbers. Components follow each other as their first nodes do. Deterministic; O(nnz log).
/// Source: Saad 2003, section 3.3.3; where a component starts: George and Liu 1979.
ordering reverse_cuthill_mckee(const adjacency&);

/// Nodes in `parts` groups of equal size, nearly, between which few edges run: METIS's k-way
/// partition, with its own fixed seed. Within a part they keep their order. Throws unavailable,
/// saying why, where this build or this machine has no METIS, and argument_error where parts is
/// not positive or the graph is too large for it.
/// Source: Karypis and Kumar 1998.
ordering metis_order(const adjacency&, index parts);

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
