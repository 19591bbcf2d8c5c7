// Cost of one product by a method, in the planner's units.
#pragma once

#include <string>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// Cost of one product by a method, or why the method declines the matrix. Declining is no
/// error. The planner turns it into seconds (plan/speeds.hpp); docs/decisions/planner.md has the
/// units.
struct estimate {
    double matrix_bytes = 0;    ///< the arrays, each read once a product           [bytes]
    double vector_bytes = 0;    ///< x and y, each moved once                       [bytes]
    double x_bytes = 0;         ///< x; 0: its share of vector_bytes                [bytes]
    double stripes = 1;         ///< of x, gathered from one after the other
    std::string declined = {};  ///< empty, or the reason in one sentence
    double launches = 1;        ///< kernels, or parallel regions, one after the other
    /// Loads of x that neighbouring lanes or entries do not share, in sectors of 32 bytes.
    /// 0: one a nonzero.
    double sector_requests = 0;
    double held_requests = 0;  ///< those of them that L1 answers, however far apart they are
    /// The work of all workers (the threads of a CPU, the resident warps of a GPU): entries on a
    /// CPU, dependent loads on a GPU. 0: one a nonzero, of which a warp does 32 at once.
    double work_units = 0;
    double critical_units = 0;  ///< the work units of the busiest worker, however many there are
    double imbalance = 1;       ///< the busiest worker's share over the mean share
    bool bypasses_l1 = false;   ///< a large matrix's loads do not allocate in a GPU's L1
    double setup_bytes = 0;     ///< moved by the build on the CPU; 0: CSR twice, the layout once
    [[nodiscard]] double bytes() const { return matrix_bytes + vector_bytes; }
};

}  // namespace nz
