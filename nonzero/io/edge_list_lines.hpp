// The lines of an edge list, parsed.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/space.hpp"

namespace nz::edge_list {

/// Kind of the first line that is no comment.
enum class head {
    none,     ///< an edge
    certain,  ///< the columns' names: where edges have a weight it has a word that is no number
    known,    ///< such as source,target; an edge of those nodes is not told from it
    possible  ///< two words: names of columns over numbers, else an edge or not
};

/// How an edge list is written, decided before its first edge.
struct dialect {
    char separator = ' ';   ///< ' ' stands for any blanks
    bool weighted = false;  ///< a third word
    bool named = false;     ///< one of the first edges' nodes is no number
    bool strict = false;    ///< a node that looks like a comment is a fault
    std::int64_t body = 0;  ///< where its edges start in the text
    edge_list::head head = edge_list::head::none;
    std::int64_t head_at = 0;
    std::array<std::string, 3> head_words{};
};

/// From the name's end and the first lines. Throws parse_error, also where they may be read in two
/// ways.
dialect read_dialect(const std::string& path);

/// Throws parse_error where the head is one, and names source and target in another order.
void expect_columns_in_order(const std::string& path, const dialect&);

/// In words: what stands between words, the first line, weights.
std::string text_of(const dialect&);

/// Contents of some lines.
template <class V>
struct parsed {
    /// Source and target of each edge: numbers, or places in `name`.
    host_vector<std::int64_t> node;
    host_vector<V> weight;          ///< empty where there are none
    std::vector<std::string> name;  ///< every name once
    std::int64_t entries = 0;
    const char* fault_at = nullptr;
    bool has_names = false;     ///< a node is no number
    bool has_marked = false;    ///< a line begins with # or %
    bool has_unmarked = false;  ///< another node is no number
};

/// Parses lines, the last one too ending in a newline. `named`: nodes as names, else as numbers.
template <class V>
void parse_lines(const dialect&, bool named, std::span<const char> text, parsed<V>& to);

/// Fault of a line, and what was expected.
template <class V>
std::string diagnose(const dialect&, std::string_view line);

}  // namespace nz::edge_list
