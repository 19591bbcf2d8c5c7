// Edge lists, plain or gzipped: the text of SNAP, of Network Repository and of everyone's scripts.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::edge_list {

/// A line is an edge, `source target` or `source target weight`; every line has as many words as
/// the first one. What stands between two words the name's end says: a comma in .csv, a tab in
/// .tsv, blanks or tabs in every other file.
///
/// - Lines that begin with # or %, and blank lines, are skipped. So is the head of a .csv or .tsv
///   file: a first line of words such as `source,target` (see is_head in edge_list.cpp).
/// - The nodes are those that occur. Where all of them are whole numbers of at most 18 digits, row
///   k is the k-th smallest number, so nothing is guessed of where counting starts: numbers 0 to
///   n - 1 are rows 0 to n - 1, and numbers 1 to n are, too. Else they are names, and row k is the
///   k-th in the order of their bytes.
/// - The entry of an edge stands in its source's row and its target's column: edges are directed
///   as they are listed, and are not doubled. It holds the weight, or 1; an edge listed k times
///   has the sum, as in every file that nz::read reads.
/// - Names in .csv and .tsv may be quoted, `"Smith, J."`, with `""` for a quote.
/// - A UTF-8 byte order mark at the start; LF or CRLF. Weights as values of Matrix Market files.
///
/// Throws parse_error, also where there are more than 2^31 - 1 nodes.
template <class V>
named_matrix<V> read(const std::string& path, const read_options& = {},
                     std::size_t chunk_bytes = 0);

/// Whether edges have weights, from the first lines; the shape and the number of entries are not
/// known before all is read.
file_info inspect(const std::string& path);

}  // namespace nz::edge_list
