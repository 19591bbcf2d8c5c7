// Colours for the unknowns of a matrix, none of which meets its own colour in a row.
#pragma once

#include "nonzero/matrix/ascending.hpp"

namespace nz {

struct colouring {
    index colours = 0;
    host_vector<index> order;  ///< all rows, colour after colour, ascending within each
    host_vector<index> first;  ///< colours + 1: where each colour begins in `order`
};

/// Every row takes, in ascending order, the first colour that none of its neighbours has: i and j
/// are neighbours where a_ij or a_ji is stored. At most one more colour than the most neighbours.
/// Deterministic. Throws argument_error where A is not square.
/// Source   Saad 2003, section 3.3.3 (greedy multicolouring).
template <class V>
colouring colour(const ascending<V>& A);
template <class V>
colouring colour(const csr<V, host_view>& A) {
    return colour(ascending(A));
}

}  // namespace nz
