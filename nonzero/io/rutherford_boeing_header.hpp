// The first lines of a Rutherford-Boeing or Harwell-Boeing file, and its text line by line.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "nonzero/io/io.hpp"
#include "nonzero/io/text.hpp"

namespace nz::rutherford_boeing {

/// A text's lines, one after the other.
class line_reader {
  public:
    /// `path` must live.
    explicit line_reader(const std::string& path);
    /// Moves to the next line, less its blanks at the end. Throws parse_error where there is none.
    void next(std::string_view expected);
    [[nodiscard]] std::string_view line() const { return line_; }
    [[nodiscard]] double fraction() const { return source_->fraction(); }
    /// Of the line that was read last. Throws parse_error.
    [[noreturn]] void fail(const std::string& what, const std::string& expected) const;

  private:
    const std::string& path_;
    std::unique_ptr<text_source> source_;
    host_vector<char> buffer_;
    std::string_view left_, line_;
    std::string fault_;
    std::int64_t number_ = 0;
};

/// A Fortran format of equal fields, such as (10I8) or (1P,4D20.13).
struct field_format {
    std::size_t per_line = 1, width = 0;
};

struct header {
    nz::field field{};
    nz::symmetry symmetry{};
    std::int64_t rows = 0, cols = 0, entries = 0;
    bool has_values = false;
    field_format pointers, indices, values;
};

/// Leaves `lines` behind the header. Throws parse_error.
header read_header(line_reader& lines);

}  // namespace nz::rutherford_boeing
