// A square matrix as an undirected graph: who is whose neighbour.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The neighbours of every node, ascending, each once, itself left out; i is j's where j is i's.
struct adjacency {
    host_vector<offset> first;   ///< nodes + 1: node i has [first[i], first[i+1])
    host_vector<index> targets;  ///< twice as many as there are edges
    [[nodiscard]] index nodes() const { return index(first.size()) - 1; }
    [[nodiscard]] offset edges() const { return offset(targets.size()) / 2; }
    [[nodiscard]] index degree(index i) const {
        return index(first[std::size_t(i) + 1] - first[std::size_t(i)]);
    }
    [[nodiscard]] std::span<const index> neighbours(index i) const {
        return {targets.data() + first[std::size_t(i)], std::size_t(degree(i))};
    }
};

/// The graph of the pattern of A + A^T, whatever the values. Throws argument_error where A is
/// malformed or not square. Deterministic.
template <class V>
adjacency adjacency_of(const csr<V, host_view>& A);

/// Throws argument_error unless the neighbours of every node are others, ascend, and have it as
/// theirs. O(nodes + edges).
void validate(const adjacency&);

}  // namespace nz
