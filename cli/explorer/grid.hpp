// A matrix as people write it down: a grid of cells.
#pragma once

#include <string>
#include <string_view>

#include "nonzero/formats/csr/csr.hpp"

namespace nz::cli {

/// The matrix of a grid: a row a line, or a row up to each ";" or "]"; cells parted by blanks,
/// commas or tabs, as spreadsheets, MATLAB and NumPy write them. A cell of 0, "." or "*" is no
/// entry. Rows have one length; blank lines are none. Throws parse_error(name, line).
csr<double, host> matrix_of_grid(const std::string& name, std::string_view text);

}  // namespace nz::cli
