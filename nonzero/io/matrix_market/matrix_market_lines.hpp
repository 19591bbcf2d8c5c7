// The lines of a Matrix Market file's body, parsed.
#pragma once

#include <span>

#include "nonzero/io/matrix_market/matrix_market_header.hpp"

namespace nz::matrix_market {

/// Contents of some lines of the body. For an array, values only.
template <class V>
struct parsed {
    host_vector<index> row, col;
    host_vector<V> val;
    std::size_t size = 0;            ///< elements in use of each array
    std::int64_t entries = 0;        ///< lines with an entry, before the fault
    const char* fault_at = nullptr;  ///< the line that is none
};

/// Parses lines, the last one too ending in a newline with text_padding behind it. The arrays are
/// used again, and grow.
template <class V>
void parse_lines(const header& h, std::span<const char> text, parsed<V>& to);

/// Fault of a line of the body, and what was expected.
template <class V>
std::string diagnose(const header& h, std::string_view line);

/// Where the line of the entry behind `entries` others starts, counting every line that is neither
/// blank nor a comment.
const char* entry_start(std::span<const char> text, std::int64_t entries);

}  // namespace nz::matrix_market
