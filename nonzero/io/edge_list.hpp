// Edge lists, plain or gzipped: the text of SNAP, of Network Repository and of everyone's scripts.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::edge_list {

/// A line is an edge, `source target` or `source target weight`; every line has as many words as
/// the first one. How they are written is decided from the first lines, before the first edge, and
/// what may be read in two ways is refused.
///
/// - What stands between two words the name's end says, in capitals too: a comma in .csv (or a
///   semicolon where lines have no commas), a tab in .tsv. In every other file it is blanks, and
///   where lines show them tabs, commas or semicolons.
/// - Blank lines are skipped, and those that begin with # or %. Where no blanks stand between
///   words, a comment has a blank behind its mark: #java,go is an edge.
/// - The head is a first line of two words that are no numbers where all nodes are numbers, or with
///   a third word where others have a weight, or a pair such as `source,target` (see
///   edge_list_lines. cpp) whose words are no nodes. Two other words over names are an edge where
///   one is in another edge, and else refused. A head that has the columns in another order is
///   refused.
/// - The nodes are those that occur. Where all of them are whole numbers of at most 18 digits, row
///   k is the k-th smallest number, so nothing is guessed of where counting starts: numbers 0 to
///   n - 1 are rows 0 to n - 1, and numbers 1 to n are, too. Else they are names, and row k is the
///   k-th in the order of their bytes. 01 is a name, and another one than 1.
/// - The entry of an edge stands in its source's row and its target's column: edges are directed
///   as they are listed, and are not doubled. It holds the weight, or 1; an edge listed k times
///   has the sum, as in every file that nz::read reads.
/// - Words may be quoted, `"Smith, J."`, with `""` for a quote; "1" is 1.
/// - A weight may be a Python dict, as NetworkX writes an edge's attributes: its 'weight', or 1.
/// - A UTF-8 byte order mark at the start; LF or CRLF. Weights as values of Matrix Market files.
///
/// Throws parse_error, also where there are more than 2^31 - 1 nodes.
template <class V>
named_matrix<V> read(const std::string& path, const read_options& = {},
                     std::size_t chunk_bytes = 0);

/// Whether edges have weights, from the first lines; the shape and the number of entries are not
/// known before all is read.
file_info inspect(const std::string& path);

/// How its lines are understood, in words.
std::string describe(const std::string& path);

}  // namespace nz::edge_list
