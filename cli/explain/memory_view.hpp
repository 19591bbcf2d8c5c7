// Memory requests of GPU kernels for one matrix, for nz study --json and nz report.
#pragma once

#include <string>

#include "cli/progress.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::cli {

/// The table of `nz explain` over all methods, by counts alone, and pictures of a warp of the first
/// and of the last of them. Of a matrix with more than two million entries some rows in its middle
/// are counted, and the JSON says which. After Ctrl-C it has the methods that were done before;
/// null where there is none, and after a sentence on stderr where a trace fails.
nz::json memory_view(const csr<double, host_view>& A, const std::string& name, int threads,
                     running_clock&);

}  // namespace nz::cli
