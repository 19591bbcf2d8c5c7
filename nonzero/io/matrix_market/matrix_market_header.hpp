// The first lines of a Matrix Market file: what its body holds.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nonzero/io/io.hpp"

namespace nz::matrix_market {

struct header {
    bool dense = false;
    nz::field field{};
    nz::symmetry symmetry{};
    std::int64_t rows = 0, cols = 0, entries = 0;  ///< entries: lines of the body
    std::int64_t body = 0;                         ///< where it starts in the text
    std::int64_t size_line = 0;
};

/// Throws parse_error.
header read_header(const std::string& path);

/// Whether a text's first word is `%%MatrixMarket`. Throws parse_error where it cannot be read.
bool has_banner(const std::string& path);

constexpr bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}
/// Above 9 where c is none.
constexpr unsigned digit(char c) { return unsigned(static_cast<unsigned char>(c)) - unsigned('0'); }
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

/// The words of a line.
std::vector<std::string_view> split(std::string_view line);
/// A word of the file as an error message shows it: short, and without control characters.
std::string shown(std::string_view word);

}  // namespace nz::matrix_market
