#include "cli/explorer/grid.hpp"

#include <fast_float/fast_float.h>
#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

/// Rows are read one after the other: `cells` of each, all told.
class grid_reader {
  public:
    explicit grid_reader(const std::string& name) : name_(name) {}

    void add_line(std::string_view line) {
        ++line_;
        while (!line.empty()) {
            const std::size_t end = line.find_first_of(" \t\r,;[]()");
            add_cell(line.substr(0, end));
            if (end == std::string_view::npos) break;
            if (line[end] == ';' || line[end] == ']') end_row();
            line.remove_prefix(end + 1);
        }
        end_row();
    }
    csr<double, host> finish() {
        if (row_ptr_.size() == 1)
            throw parse_error(name_, 0, "no cells, expected a grid of numbers");
        csr<double, host> A{{index(row_ptr_.size() - 1), width_}, {}, {}, {}};
        A.row_ptr = offset_vector(row_ptr_);
        A.col_ind = std::move(col_ind_), A.val = std::move(val_);
        return A;
    }

  private:
    void add_cell(std::string_view cell) {
        if (cell.empty()) return;
        double value = 0;
        if (cell != "." && cell != "*") {
            const std::size_t sign = cell.starts_with('+') ? 1 : 0;
            const char* const end = cell.data() + cell.size();
            const auto [at, fault] = fast_float::from_chars(cell.data() + sign, end, value);
            if (fault != std::errc() || at != end)
                throw parse_error(name_, line_,
                                  fmt::format("'{}', expected a number", cell.substr(0, 20)));
        }
        if (value != 0) col_ind_.push_back(cells_), val_.push_back(value);
        ++cells_;
    }
    void end_row() {
        if (cells_ == 0) return;
        if (row_ptr_.size() > 1 && cells_ != width_)
            throw parse_error(
                name_, line_,
                fmt::format("{} cells, expected {} as in the first row", cells_, width_));
        width_ = std::exchange(cells_, 0);
        row_ptr_.push_back(offset(val_.size()));
    }

    const std::string& name_;
    std::int64_t line_ = 0;
    index cells_ = 0, width_ = 0;
    host_vector<offset> row_ptr_{0};
    host_vector<index> col_ind_;
    host_vector<double> val_;
};

}  // namespace

csr<double, host> matrix_of_grid(const std::string& name, std::string_view text) {
    grid_reader reader(name);
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        reader.add_line(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return reader.finish();
}

}  // namespace nz::cli
