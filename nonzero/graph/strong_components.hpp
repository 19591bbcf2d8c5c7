// Strong components of a directed graph.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The sets of nodes of which each is reached from each other along links: entry (i, j) of A is a
/// link from i to j, whatever its value. Gives each node's set. The sets are numbered from 0 on in
/// such an order that no link leads from one to a set of a higher number.
///
/// O(nodes + links). Throws argument_error where A is malformed or not square. Deterministic.
/// Source   Tarjan 1972, doi:10.1137/0201010, without recursion.
template <class V>
host_vector<index> strong_components_of(const csr<V, host_view>& A);

}  // namespace nz
