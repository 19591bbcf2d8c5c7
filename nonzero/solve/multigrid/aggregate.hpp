// Aggregation: a graph's nodes put together into connected groups, the unknowns of the next level.
#pragma once

#include "nonzero/solve/multigrid/strength.hpp"

namespace nz {

/// No aggregate: the node has no neighbour, and only the smoother works on it.
inline constexpr index isolated = -1;

template <class S>
struct aggregation {
    index count = 0;     ///< number of aggregates
    array<index, S> of;  ///< each node's, or `isolated`
};

/// A maximal independent set, MIS-k with k = distance + 1, for an aggregation distance of 1 or 2:
/// no two of its nodes are within k edges of each other, and every other node is within k edges of
/// one. Returns 1 for each node of the set. Isolated nodes are not in it. Priorities are hashes of
/// the node's number, new ones in every round, so that the set depends neither on the machine nor
/// on the number of threads.
///
/// Source: Bell, Dalton, Olson 2012, section 4.2; the worklists and the new hash a round are from
/// Kelley and Rajamanickam 2022, algorithm 3.
host_vector<char> independent_set(cpu on, const strong_graph<host>&, int distance = 1);

/// Every node of the set is the root of an aggregate, numbered in ascending order, and its
/// neighbours join it. With distance 1, a second set among the nodes that are left gives more
/// roots, where one still finds three neighbours. A node that is left then joins the neighbouring
/// aggregate to which it has most edges, of equal ones the first; with distance 2 in two passes, so
/// that an aggregate extends two edges from its root, at most three.
///
/// Source: Bell, Dalton, Olson 2012, section 4.2; the second set is from Kelley and Rajamanickam
/// 2022, algorithm 4.
aggregation<host> aggregate(cpu on, const strong_graph<host>&, int distance = 1);

/// Which aggregation distance suits a graph as the finest level's: 2 where most nodes of a fixed
/// sample have few neighbours, yet many nodes within two steps, as those of 7-point stencils in
/// space (6 and 24) do and those of 5- and 9-point ones in the plane (4 and 12, 8 and 24) do not;
/// else 1.
int suitable_distance(cpu, const strong_graph<host>&);

/// The same on a GPU, where `of` is: the same aggregates. Waits for on.stream.
aggregation<device> aggregate(gpu on, const strong_graph<device>&, int distance = 1);
int suitable_distance(gpu on, const strong_graph<device>&);

/// The priority of a node in a round of independent_set: 32 bits above the node's number plus one,
/// so that no two are equal and none is 0 or the largest.
NZ_HOST_DEVICE constexpr std::uint64_t priority(index node, std::uint32_t round) {
    std::uint64_t h = (std::uint64_t(round) << 32 | std::uint32_t(node)) + 0x9e3779b97f4a7c15U;
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9U;  // splitmix64: Steele, Lea, Flood 2014
    h = (h ^ h >> 27) * 0x94d049bb133111ebU;
    h ^= h >> 31;
    return h << 32 | (std::uint32_t(node) + 1U);
}

/// The same for distance 2, in 31 bits: every line maps the numbers of 31 bits one to one, so that
/// no two nodes share a rank.
NZ_HOST_DEVICE constexpr std::uint32_t rank(index node, std::uint32_t round) {
    constexpr std::uint32_t low = 0x7fffffffU;
    std::uint32_t h = (std::uint32_t(node) ^ round * 0x9e3779b9U) & low;
    h = (h ^ h >> 16) * 0x85ebca6bU & low;  // MurmurHash3's end, in 31 bits: Appleby 2011
    h = (h ^ h >> 13) * 0xc2b2ae35U & low;
    return h ^ h >> 16;
}
inline constexpr std::uint32_t no_rank = ~std::uint32_t(0);  ///< the rank of a node that is decided

inline constexpr index distance_sample = 256;  ///< nodes that suitable_distance looks at
NZ_HOST_DEVICE constexpr index sampled_node(index s, index nodes) {
    return index((priority(s, 0) >> 32) * std::uint64_t(nodes) >> 32);
}
/// Vote of a node of the sample, whose neighbours for_each(i, f) gives to f: 1 where it has few
/// and many nodes are within two steps, -1 where not, 0 where it has none.
template <class ForEach>
NZ_HOST_DEVICE int vote_for_two_steps(index i, ForEach for_each) {
    constexpr int few = 8;
    index within[1 + few + few * few] = {i};
    int nodes = 1;  // of `within`, itself first, then its neighbours
    bool many = false;
    const auto add_neighbours = [&](index of) {
        int found = 0;
        for_each(of, [&](index j) {
            if (++found > few) {
                many = true;
                return;
            }
            bool is_new = true;
            for (int k = 0; k < nodes; ++k) is_new &= within[k] != j;
            if (is_new) within[nodes++] = j;
        });
    };
    add_neighbours(i);
    const int one_step = nodes;
    for (int k = 1; k < one_step && !many; ++k) add_neighbours(within[k]);
    // With itself 7 and 25 inside a 7-point grid, 6 and 19 on its faces; in the plane 5 and 13.
    constexpr int percent_of_a_volume = 310;
    if (one_step == 1) return 0;
    return !many && nodes * 100 > one_step * percent_of_a_volume ? 1 : -1;
}

}  // namespace nz
