// How an iteration converges, shown while it runs and when it is over.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/core/json.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz::cli {

/// For the monitor of solve_options and of pagerank_options: false after Ctrl-C, inside an
/// interruption; where stderr is a terminal it also shows a line with the iteration and its
/// residual, some 20 times a second, gone when the last copy is. `what` it is that falls to tol.
std::function<bool(std::int64_t iteration, double residual)> progress_line(
    double tol, std::string_view what = "residual");

/// The residuals by iteration, a row a decade or several, `tol` as a line across.
void print_convergence(const std::vector<double>& history, double tol);

/// The library's sentence with limits named as the command's options are: max_iter as --max-iter.
std::string by_options(std::string sentence);

/// An attempt without its history.
nz::json to_json(const system_report::attempt&);

}  // namespace nz::cli
