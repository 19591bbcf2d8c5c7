// The lines of an edge list, parsed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/space.hpp"

namespace nz::edge_list {

/// How an edge list is written.
struct dialect {
    char separator = ' ';   ///< ' ' stands for any blanks
    bool weighted = false;  ///< a third word
    bool named = false;     ///< the first edge's nodes are no numbers
    std::int64_t body = 0;  ///< where its edges start in the text
};

/// From the name's end and the first lines. Throws parse_error.
dialect read_dialect(const std::string& path);

/// What some lines hold.
template <class V>
struct parsed {
    /// Source and target of each edge: numbers, or places in `name`.
    host_vector<std::int64_t> node;
    host_vector<V> weight;          ///< empty where there are none
    std::vector<std::string> name;  ///< every name once
    std::int64_t entries = 0;
    const char* fault_at = nullptr;
    bool has_names = false;  ///< numbers were asked for, and a line with a name ended the parsing
};

/// Parses lines, the last one too ending in a newline. `named`: nodes as names, else as numbers.
template <class V>
void parse_lines(const dialect&, bool named, std::span<const char> text, parsed<V>& to);

/// What is wrong with a line, and what was expected.
template <class V>
std::string diagnose(const dialect&, std::string_view line);

}  // namespace nz::edge_list
