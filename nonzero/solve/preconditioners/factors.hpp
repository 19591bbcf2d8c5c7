// Common options and report of incomplete factorisations.
#pragma once

#include <cstdint>
#include <string>

#include "nonzero/core/space.hpp"

namespace nz {

/// Options of ilu, ic, fsai and spai.
struct incomplete_options {
    /// Ways to solve with a triangular factor.
    enum class triangular_solves {
        automatic,  ///< exact on a CPU, approximate on a GPU
        exact,      ///< row after row, threads sharing those that do not wait
        /// By a planned product with an approximate inverse of the factor's pattern: no row waits,
        /// at the price of more iterations.
        approximate,
    };

    /// Of fill. ilu and ic: 0 keeps A's pattern, 1 and 2 usually have 2 to 6 times as much. fsai:
    /// the pattern is that of A's lower triangle; 1: of A^2's. spai: that of A; 1: of A^2.
    int level = 0;
    /// Unknowns of a node, 1 to 64, which follow each other from a multiple of it on. Where an
    /// entry couples two nodes, all their unknowns are coupled in the pattern: so ilu and ic
    /// eliminate dense blocks, by block ILU(level) and block IC(level) without pivoting within a
    /// block.
    index block = 1;
    /// ilu: a pivot smaller than this times the largest entry of A's row becomes that large, its
    /// sign kept; 0: the square root of a unit of rounding. ic: a pivot smaller than this times A's
    /// diagonal entry is none, and A's diagonal grows; 0: sixteen units of rounding.
    double least_pivot = 0;
    /// fsai: entries of a row at most, the largest of A (of A^2), scaled to a diagonal of ones. A
    /// row takes the time of a dense Cholesky factorisation of so many rows. spai: the same, of A
    /// as it is, and a dense least-squares problem.
    index longest_row = 100;
    triangular_solves solves = triangular_solves::automatic;  ///< of ilu and ic
};

/// Report on an incomplete factorisation.
struct factor_report {
    std::int64_t entries = 0;         ///< of both factors, the diagonal counted once
    double fill = 0;                  ///< entries, over A's
    std::int64_t shifted_pivots = 0;  ///< pivots of ilu that were too small
    std::int64_t first_shifted = -1;  ///< the first such row; -1: none
    double shift = 0;                 ///< part of its diagonal that ic or ict added to A
    double setup_s = 0;               ///< [s]
};
/// The report in one line.
std::string to_text(const factor_report&);

}  // namespace nz
