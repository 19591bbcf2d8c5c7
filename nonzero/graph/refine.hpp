// A partition made better by moving one node after the other.
#pragma once

#include "nonzero/graph/adjacency.hpp"

namespace nz {

/// Moves nodes between the parts 0 to parts - 1: first out of those that hold more than `room`,
/// those first whose move cuts fewest edges; then, in a few passes over the nodes, each to the part
/// that most of its neighbours are in, where that has room and fewer edges are cut. Afterwards no
/// part holds more than `room`. Where none did before, no more edges are cut. A pass is
/// O(nodes + edges). Deterministic.
/// Throws argument_error where a part is out of range or parts x room does not hold all nodes.
/// Source: Karypis and Kumar 1998, section 5.3 (greedy refinement).
void refine(const adjacency&, index parts, std::int64_t room, std::span<index> part);

}  // namespace nz
