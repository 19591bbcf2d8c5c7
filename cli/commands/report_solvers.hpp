// How several Krylov methods converge on one matrix, for nz report.
#pragma once

#include "nonzero/core/json.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::cli {

/// Attempts of nz::solve by itself on A x = A x*, then its best method without a preconditioner and
/// with jacobi, then gmres with jacobi; each with its history, of which every history_every-th
/// residual is kept. A method ends after `seconds` of iterations, or at Ctrl-C within an
/// interruption. Empty where A is not square or has no entries.
nz::json compare_solvers(const csr<double, host_view>& A, int threads, double seconds);

}  // namespace nz::cli
