// A graph's connected components, and the graph of some of its nodes.
#pragma once

#include "nonzero/graph/adjacency.hpp"

namespace nz {

/// The sets of nodes that paths join. They are numbered by size, the largest first; of equal ones
/// that with the lowest node comes first.
struct components {
    host_vector<index> of;     ///< each node's component
    host_vector<index> sizes;  ///< nodes of each, descending
    host_vector<index> nodes;  ///< component after component, ascending within each

    [[nodiscard]] index count() const { return index(sizes.size()); }
    [[nodiscard]] index largest() const { return sizes.empty() ? 0 : sizes.front(); }
    [[nodiscard]] index isolated() const;  ///< nodes without a neighbour
};

/// By a breadth-first search: O(nodes + edges), and O(count log count) to number them.
/// Throws argument_error as validate does. Deterministic.
components components_of(const adjacency&);

/// The graph of the given nodes and of the edges between them; nodes[k] is its node k.
/// Throws argument_error unless the nodes ascend and are the graph's. Deterministic.
adjacency subgraph(const adjacency&, std::span<const index> nodes);

}  // namespace nz
