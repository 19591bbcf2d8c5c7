// A file of measurements that another command wrote, read for nz report --from.
#pragma once

#include <string>

#include "nonzero/core/json.hpp"

namespace nz::cli {

/// The JSON of nz study, nz bench or nz report, without the times of single blocks, which no plot
/// shows and which would be most of the page. Throws parse_error where the file cannot be read, is
/// no such JSON, or has two matrices of one name.
nz::json read_measurements(const std::string& path);

}  // namespace nz::cli
