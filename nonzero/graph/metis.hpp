// METIS, where it is installed: nodes in parts between which few edges run.
#pragma once

#include <string>
#include <vector>

#include "nonzero/graph/adjacency.hpp"

namespace nz {

enum class metis_scheme { recursive, kway };  ///< METIS_PartGraphRecursive, METIS_PartGraphKway

struct metis_options {
    metis_scheme scheme = metis_scheme::recursive;
    /// The heaviest part over the mean, less 1, as far as METIS keeps to it; 0: its own
    /// default, 0.001 where recursive and 0.03 where kway.
    double imbalance = 0;
    int seed = -1;  ///< -1: its own default
    /// The share of the nodes for each part: positive, their sum 1; empty: equal shares.
    std::vector<double> shares = {};
};

/// METIS numbers both ends of every edge, in 32 bits.
inline constexpr offset metis_max_edges = (offset(1) << 30) - 1;

std::string why_no_metis();  ///< empty where METIS can be used

/// Part of every node, 0 to parts - 1. A part can be empty. Same bits in every run; one call at a
/// time, as METIS draws from the process' rand().
/// Throws unavailable, saying why, where this build or this machine has no METIS, and
/// argument_error where parts is not positive, imbalance negative or no number, shares not as many
/// as parts, not positive or of another sum than 1 (to 1e-6), or the graph too large for it (2^30
/// edges).
/// Source: Karypis and Kumar 1998.
host_vector<index> metis_parts(const adjacency&, index parts, const metis_options&);

/// Up to 8 parts recursively, more by kway, with a seed of our own; the same throws.
host_vector<index> metis_parts(const adjacency&, index parts);

}  // namespace nz
