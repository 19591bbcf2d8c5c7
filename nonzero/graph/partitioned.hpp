// Rows shared out so that few elements travel: by a partition of the matrix's graph.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/graph/reorder.hpp"

namespace nz {

/// This rank's rows of P A P^T, whose rows are contiguous for each rank: row k is A's order[k].
///
///     const auto [slice, order] = nz::partitioned_slice(ranks, A);
///     const auto Pb = nz::reordered<double>(b, order);
///     const auto own_b = nz::slice_of<double>(slice.rows, ranks.rank(), Pb);
///     ...
///     const auto x = nz::restored<double>(nz::joined<double>(ranks, own_x), order);  // on rank 0
///
/// The order is that of all rows, on every rank. By the part of every row, 0 to ranks.size() - 1;
/// rows of one part keep their order, and a part may be empty. Every rank has A and `part` as a
/// whole, and calls it. Throws argument_error, on all of them, where A is malformed or not square,
/// a part is wrong, or ranks differ in size.
template <class V>
std::pair<matrix_slice<V>, ordering> partitioned_slice(const communicator& ranks,
                                                       const csr<V, host_view>& A,
                                                       std::span<const index> part);

/// By nz::partition with its defaults, which rank 0 finds and tells the others: METIS, k-way and
/// recursively, where it is installed. Throws also what that throws, on all ranks.
template <class V>
std::pair<matrix_slice<V>, ordering> partitioned_slice(const communicator& ranks,
                                                       const csr<V, host_view>& A);

}  // namespace nz
