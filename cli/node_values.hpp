// A number for every node of a graph, written with the names that the graph's file has for them.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nonzero/io/io.hpp"

namespace nz::cli {

/// Endings of node files: a vector's; .tsv with names; "-" is .tsv on stdout.
inline constexpr std::string_view node_file_endings[] = {".tsv", ".mtx", ".mtx.gz"};

/// Writes `name<TAB>value`, a line a node in the order of the rows, or, to .mtx, the values alone.
/// Nothing where `path` is empty. Throws error.
template <class T>
void write_node_values(const std::string& path, const node_names& names, std::span<const T> values);

}  // namespace nz::cli
