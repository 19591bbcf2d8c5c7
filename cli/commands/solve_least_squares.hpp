// nz solve of a rectangular system, or by a method for such: least squares.
#pragma once

#include <string>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/least_squares/least_squares.hpp"

namespace nz::cli {

/// Options of nz solve as least squares take them.
struct least_squares_request : run_options {
    std::string matrix, b, guess, to, type;
    std::string method;  ///< lsmr or lsqr
    double tol = 0;      ///< atol and btol
    least_squares_options solver;
};

/// Solves, writes x and tells what was found; the exit code.
template <class V>
int solve_least_squares(const least_squares_request&, const csr<V, host_view>& A, json_file&);

}  // namespace nz::cli
