// Nodes of several unknowns, as of elasticity, found in a matrix.
#pragma once

#include "nonzero/core/communicator.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Unknowns of a node: 6, 3 or 2, the first for which nine nodes in ten are such that
///
///     their rows   have entries in the columns of the same nodes,
///     their blocks have more than half of all places stored,
///     their rows' entries that belong to one unknown of the nodes sum to a half of their
///                  magnitudes or less, as where the constant of each unknown is hardly felt;
///
/// else 1, as where no node feels a constant: A is singular then. Of a matrix without such nodes
/// hardly more than a sample of its rows is read. Every node counts as much as any other, whatever
/// its values. Over ranks: A is this rank's rows, from `first_row` on, the columns are numbered as
/// of all; nodes that lie on two ranks do not count. Called by all ranks, which get the same. rows:
/// of all ranks. A: valid; in rows that do not ascend nodes may be overlooked.
template <class V>
index unknowns_a_node(cpu on, const communicator* ranks, const csr<V, host_view>& A, index rows,
                      index first_row = 0);
/// The same number of a matrix on a GPU, its rows ascending. Waits for on.stream.
template <class V>
index unknowns_a_node(gpu on, const csr<V, device_view>& A);

}  // namespace nz
