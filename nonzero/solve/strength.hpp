// Strength of connection: which unknowns depend on each other so much that they may share an
// aggregate.
#pragma once

#include "nonzero/formats/csr.hpp"

namespace nz {

/// An undirected graph over nodes, each listed by its neighbours in ascending order, itself left
/// out. There may be room between one node's neighbours and the next one's.
struct strong_graph {
    host_vector<offset> first;  ///< where each node's neighbours start
    host_vector<index> count;   ///< how many they are
    host_vector<index> target;
    [[nodiscard]] index nodes() const { return index(count.size()); }
    [[nodiscard]] std::span<const index> neighbours(index i) const {
        return {target.data() + first[std::size_t(i)], std::size_t(count[std::size_t(i)])};
    }
};

/// Nodes i and j are strongly coupled where |a_ij|^2 > eps^2 |a_ii| |a_jj|, entries of explicit
/// zero left out. With `block` unknowns a node (1: none are grouped) an entry stands for a block
/// and its Frobenius norm. A must be square, symmetric in its magnitudes, canonical, its rows a
/// multiple of `block`; eps not negative. Same bits for any number of threads.
/// Source: Vanek, Mandel, Brezina 1996, section 5.1.
template <class V>
strong_graph strong_couplings(cpu on, const csr<V, host_view>& A, index block, double eps);

/// The diagonal of a square A; 0 where none is stored.
template <class V>
host_vector<V> diagonal_of(cpu on, const csr<V, host_view>& A);

}  // namespace nz
