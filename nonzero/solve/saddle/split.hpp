// Saddle points, found by the zero or negative block on their diagonal.
#pragma once

#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// The rows and columns of K = (A, G; L, -C), or of -K.
struct saddle_split {
    host_vector<index> first, second;  ///< ascending: those of A, and those of C
    bool is_negated = false;           ///< it is -K that is so
    [[nodiscard]] bool found() const { return !second.empty(); }
};

/// Splits a square K whose diagonal has entries of one sign in some rows, A's, and zeros or entries
/// of the other sign in the rest, C's, where C is weakly diagonally dominant: zero where its
/// diagonal is, and semidefinite where it is symmetric. The sign that more rows have is A's.
/// Nothing is found where all rows would be of one kind, or C is not so. diagonal: K's.
template <class V>
saddle_split find_saddle(const ascending<V>& K, std::span<const V> diagonal);

}  // namespace nz
