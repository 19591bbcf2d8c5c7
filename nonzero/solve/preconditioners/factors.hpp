// Common options and report of incomplete factorisations.
#pragma once

#include <cstdint>
#include <string>

namespace nz {

/// Ways to solve with a triangular factor.
enum class triangular_solves {
    automatic,  ///< exact on a CPU, approximate on a GPU
    exact,      ///< row after row, threads sharing those that do not wait: on a CPU only
    /// By a planned product with an approximate inverse of the factor's pattern: no row waits, at
    /// the price of more iterations.
    approximate,
};

/// Report on an incomplete factorisation.
struct factor_report {
    std::int64_t entries = 0;         ///< of both factors, the diagonal counted once
    double fill = 0;                  ///< entries, over A's
    std::int64_t shifted_pivots = 0;  ///< pivots of ilu that were too small
    std::int64_t first_shifted = -1;  ///< the first such row; -1: none
    double shift = 0;                 ///< part of its diagonal that ic added to A
    double setup_s = 0;               ///< [s]
};
/// The report in one line.
std::string to_text(const factor_report&);

}  // namespace nz
