// The first lines of a Rutherford-Boeing or Harwell-Boeing file, and its text line by line.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/io/io.hpp"
#include "nonzero/io/text.hpp"

namespace nz::rutherford_boeing {

/// A text's lines, one after the other.
class line_reader {
  public:
    /// `path` must live.
    explicit line_reader(const std::string& path);
    /// Moves to the next line. Throws parse_error where there is none.
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

/// One number of a Fortran format: where it stands in its line, and how it is written.
struct format_field {
    std::size_t lines = 0;  ///< from the field before to this one
    std::size_t from = 0, width = 0;
    int decimals = 0;  ///< digits behind the point of a number that is written without one
    int scale = 0;     ///< a number that is written without exponent is 10^scale times too large
};

/// A Fortran format of numbers, such as (10I8), (1P,4D20.13) or (2X,3(I6,1X)).
struct field_format {
    std::vector<format_field> fields;
    std::size_t again = 0;  ///< the one behind the last
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
