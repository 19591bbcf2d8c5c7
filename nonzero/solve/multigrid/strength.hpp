// Strength of connection: which unknowns depend on each other so much that they may share an
// aggregate.
#pragma once

#include "nonzero/matrix/diagonal.hpp"

namespace nz {

/// An undirected graph over nodes, each listed by its neighbours in ascending order, itself left
/// out. There may be room between one node's neighbours and the next one's.
template <class S>
struct strong_graph;
template <>
struct strong_graph<host> {
    host_vector<offset> first;  ///< where each node's neighbours start
    host_vector<index> count;   ///< how many they are
    host_vector<index> target;
    [[nodiscard]] index nodes() const { return index(count.size()); }
    [[nodiscard]] std::span<const index> neighbours(index i) const {
        return {target.data() + first[std::size_t(i)], std::size_t(count[std::size_t(i)])};
    }
};

/// The same graph on a GPU, with a mark for every entry that is strong: of single unknowns A's
/// pattern, which it borrows, of blocks a pattern of its own, all of which is strong.
template <>
struct strong_graph<device> {
    device_offset_span row_ptr;
    device_span<index> col_ind;
    device_array<char> strong;
    device_offsets own_row_ptr;
    device_array<index> own_col_ind;
    [[nodiscard]] index nodes() const { return index(row_ptr.size()) - 1; }
};

/// Nodes i and j are strongly coupled where |a_ij|^2 > eps^2 |a_ii| |a_jj|, entries of explicit
/// zero left out. With `block` unknowns a node (1: none are grouped) an entry stands for a block
/// and its Frobenius norm. A must be square, symmetric in its magnitudes, canonical, its rows a
/// multiple of `block`; eps not negative. Same bits for any number of threads.
/// @param diagonal  A's, where it is known
/// Source: Vanek, Mandel, Brezina 1996, section 5.1.
template <class V>
strong_graph<host> strong_couplings(cpu on, const csr<V, host_view>& A, index block, double eps,
                                    in<real<V>, cpu> diagonal = {});

/// A mark for every entry of A that smoothed_prolongation keeps: strong ones and the diagonal's.
/// Empty where all are kept. Of single unknowns; arguments and bits as above, but A may have more
/// columns than rows: `diagonal` is that of all columns.
template <class V>
host_vector<char> kept_entries(cpu on, const csr<V, host_view>& A, double eps,
                               in<real<V>, cpu> diagonal);

/// On a GPU it waits for on.stream where `block` is above 1. Of single unknowns A may have more
/// columns than rows, as the rows of one rank among several do: `diagonal` is then that of all
/// columns.
template <class V>
strong_graph<device> strong_couplings(gpu on, const csr<V, device_view>& A, index block, double eps,
                                      in<real<V>, gpu> diagonal = {});
/// The couplings of such a graph between its first `nodes` nodes, which are all that it has rows
/// of. Borrows the pattern that it borrows.
strong_graph<device> couplings_within(gpu on, const strong_graph<device>&, index nodes);

}  // namespace nz
