// Options of multigrid, and its report.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "nonzero/core/space.hpp"
#include "nonzero/plan/storage/value_storage.hpp"

namespace nz {

struct amg_options {
    enum class cycles { v, w };
    enum class smoothers { chebyshev, l1_jacobi };

    cycles cycle = cycles::v;
    smoothers smoother = smoothers::chebyshev;
    int degree = 2;  ///< degree of the Chebyshev polynomial on the finest level, one more below
    int sweeps = 1;  ///< passes of the smoother before and after the coarser level
    /// Chebyshev smooths from the largest eigenvalue over this ratio on; 0: 12, and 8 on the finest
    /// level where its aggregation distance is 2.
    double eigenvalue_ratio = 0;
    /// The aggregation distance of the finest level, 1 or 2 (`aggregate`); 0: 2 where six
    /// candidates of blocks of three are given, as a body's modes are, else suitable_distance.
    int aggregation_distance = 0;
    double strength = 0.08;  ///< eps of strong_couplings; a fifth of it on every coarser level
    double omega = 1.6;      ///< damping of the smoothed prolongation, over the spectral radius
    /// Unknowns a node, which are aggregated together; 0: 6, 3 or 2 where the rows come in such
    /// groups, each with one pattern and hardly feeling constants (nonzero/matrix/nodes.hpp),
    /// else 1.
    index block = 1;
    index coarse_rows = 500;  ///< up to these a level is solved directly
    int max_levels = 25;
    /// Candidates that are found by relaxation, beside those given or the constants, or in the
    /// place of phases (`amg`): for each a hierarchy of those before is set up and applied
    /// `relaxations` times to A x = 0 from a random x, which is the same in every run; x is what it
    /// does not reduce. Source: Brezina, Falgout, MacLachlan, Manteuffel, McCormick, Ruge 2004,
    /// doi:10.1137/S1064827502418598; in a simple form, without its tests for an early end.
    int adaptive_candidates = 0;
    int relaxations = 10;
    int lanczos_iterations = 10;  ///< Lanczos iterations for the spectral radius of each level
    /// The precision of a cycle, of its vectors and all matrices, where A is real and double.
    /// `single` takes half the bytes of a cycle, of vectors b whose elements, where they are not
    /// zero, lie between 1e-18 and 1e18 in magnitude, as do the entries of A. The setup computes in
    /// double, as does a cycle that is a direct solve alone.
    value_storage precision = value_storage::exact;
    /// Of ranks on GPUs: the rows a rank, on average, from which on the GPUs make a level. Smaller
    /// ones are made on the CPUs.
    index rows_worth_a_gpu = 10000;
    bool check = true;  ///< checks that A is symmetric, which takes about a product
    /// Keeps aggregates, couplings and patterns, so that take_values need not find them again: 13
    /// bytes a row and one an entry beside A, and of levels that are packed, on a GPU or in single
    /// precision, the matrices.
    bool keep = true;
    /// Parts that other values leave as they are: aggregates, with new prolongations, or these too.
    enum class keeps { aggregates, prolongation };

    /// Throws argument_error where an option is out of its range.
    void validate() const;
};

struct amg_report {
    /// Report on one level.
    struct level {
        index rows = 0;
        offset nnz = 0;
        double spectral_radius = 0;  ///< estimate for D^-1 A; 0 on a level solved directly
        std::string method;          ///< method of its product
    };

    index block = 1;            ///< unknowns a node of the finest level
    std::vector<level> levels;  ///< finest first
    bool direct = false;        ///< the last is solved directly; else smoothed only
    double setup_s = 0;
    [[nodiscard]] double operator_complexity() const;  ///< nonzeros of all levels over the first's
    [[nodiscard]] double grid_complexity() const;      ///< rows of all levels over the first's
};
/// A table of the levels, and the complexities below it.
std::string to_text(const amg_report&);
std::ostream& operator<<(std::ostream&, const amg_report&);

}  // namespace nz
