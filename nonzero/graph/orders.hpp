// Orders of a graph's nodes, and measures of them: is it one, and how near to the diagonal it
// brings the entries.
#pragma once

#include "nonzero/graph/adjacency.hpp"
#include "nonzero/graph/reorder.hpp"

namespace nz {

/// reverse_cuthill_mckee of a graph that is there.
ordering reverse_cuthill_mckee(const adjacency&);

/// Nodes in `parts` groups of equal size, nearly, between which few edges run: METIS's k-way
/// partition, with its own fixed seed. Within a part they keep their order. Throws unavailable,
/// saying why, where this build or this machine has no METIS, and argument_error where parts is
/// not positive or the graph is too large for it.
/// Source: Karypis and Kumar 1998.
ordering metis_order(const adjacency&, index parts);

/// Throws argument_error unless `order` has each of 0 to n - 1 once.
void check_order(const ordering& order, index n);

/// Distances of a square matrix's entries from the diagonal.
struct nearness {
    std::int64_t bandwidth = 0;  ///< largest |column - row|
    std::int64_t profile = 0;    ///< sum over the rows of row - column of its first entry, where
                                 ///< that is before the diagonal
    double in_blocks = 1;        ///< share of the entries in `blocks` equal blocks on the diagonal
};
/// Throws argument_error where A is not square or blocks not positive.
template <class V>
nearness measure_nearness(const csr<V, host_view>& A, index blocks);

}  // namespace nz
