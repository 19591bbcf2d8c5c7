// Coordinates of a mesh's nodes, from a file.
#pragma once

#include <string>

#include "nonzero/core/space.hpp"

namespace nz {

/// Coordinates of the nodes, and how many a node has.
struct node_coordinates {
    host_vector<double> all;
    index dimension = 0;
};

/// Reads a matrix with a row of 2 or 3 coordinates for each node, of whose unknowns a system has
/// `rows`. Throws argument_error where the numbers do not suit, and as read.
node_coordinates read_coordinates(const std::string& path, index rows);

}  // namespace nz
