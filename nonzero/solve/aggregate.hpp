// Aggregation: a graph's nodes put together into connected groups, the unknowns of the next level.
#pragma once

#include "nonzero/solve/strength.hpp"

namespace nz {

/// No aggregate: the node has no neighbour, and the smoother alone serves it.
inline constexpr index alone = -1;

struct aggregation {
    index count = 0;        ///< of aggregates
    host_vector<index> of;  ///< each node's, or alone
};

/// The nodes of a distance-2 maximal independent set: no two of them within two steps, every other
/// node within two steps of one. 1 where a node is in the set; a node without neighbours is not.
/// Priorities are hashes of the node's number, new ones in every round, so that the set depends
/// neither on the machine nor on the number of threads.
/// Source: Bell, Dalton, Olson 2012, section 4.2; the worklists and the new hash a round are from
/// Kelley and Rajamanickam 2022, algorithm 3.
host_vector<char> independent_set(cpu on, const strong_graph&);

/// Every node of the set is the root of an aggregate, numbered in ascending order; a root's
/// neighbours join it. A second set among the nodes that are left gives more roots, where one
/// still finds three neighbours. Whatever is left then joins that of its neighbours' aggregates to
/// which it has most edges, of equal ones the first.
/// Source: Bell, Dalton, Olson 2012, section 4.2; the second set is from Kelley and Rajamanickam
/// 2022, algorithm 4.
aggregation aggregate(cpu on, const strong_graph&);

/// The same on a GPU, where `of` is: the same aggregates. Waits for on.stream.
struct device_aggregation {
    index count = 0;
    device_array<index> of;
};
device_aggregation aggregate(gpu on, const marked_graph&);

/// The priority of a node in a round of independent_set: 32 bits above the node's number plus one,
/// so that no two are equal and none is 0 or the largest.
NZ_ANYWHERE constexpr std::uint64_t priority(index node, std::uint32_t round) {
    std::uint64_t h = (std::uint64_t(round) << 32 | std::uint32_t(node)) + 0x9e3779b97f4a7c15U;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9U;  // splitmix64: Steele, Lea, Flood 2014
    h = (h ^ h >> 27) * 0x94d049bb133111ebU;
    h ^= h >> 31;
    return h << 32 | (std::uint32_t(node) + 1U);
}

}  // namespace nz
