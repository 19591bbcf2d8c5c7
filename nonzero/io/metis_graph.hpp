// METIS's graph files, plain or gzipped: what partitioners, and the DIMACS challenges, exchange.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::metis_graph {

/// `nodes edges [format [weights]]`, then a line a node: the nodes next to it, numbered from 1. Of
/// the format's three digits, zeros in front may be missing: the first says that a node's size, the
/// second that its weights (`weights` of them, or 1), the third that a weight behind every
/// neighbour are listed. Sizes and weights of nodes are read and not kept.
///
/// - Lines that begin with % are skipped. A blank line is a node without neighbours.
/// - The entry of a neighbour stands in the node's row; it holds the edge's weight, or 1. An edge
///   is listed by both its nodes, so the matrix is symmetric where the file is right; that there
///   are twice as many neighbours as edges is checked, that both nodes agree is not.
/// - Weights of edges may be any numbers; METIS wants whole ones.
/// - A line of at most 256 MiB.
///
/// Throws parse_error.
/// Source: Karypis, METIS 5.1.0 manual, section 4.1.1.
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {}, std::size_t chunk_bytes = 0);

/// The header. Its shape has as many rows as nodes, its entries are twice the edges.
file_info inspect(const std::string& path);

}  // namespace nz::metis_graph
