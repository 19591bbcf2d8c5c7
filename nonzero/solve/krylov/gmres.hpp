// Generalised minimal residuals, restarted, for matrices that are not symmetric.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

struct gmres_options : solve_options {
    /// Iterations from one restart to the next, at first; as many vectors are kept.
    index restart = 30;
    index most_restart = 1000;  ///< to which restart may grow
    /// FGMRES: M may be another operator in every iteration, such as a solver that ends by its
    /// residual. M times each basis vector is kept as well, and x made of those.
    bool flexible = false;
};

/// Solves A x = b for any regular A by GMRES(restart), preconditioned from the right, so that what
/// it minimises is the residual of A x = b. It starts again from where it is every `restart`
/// iterations, with the true residual, so that replace_every has nothing to do. Where a cycle
/// leaves more than 0.9 of the residual the next ones are twice as long, up to most_restart, the
/// rows of A or 256 MiB of vectors; where that does not help, or a cycle reduces the residual by
/// nothing, it ends. Each new direction is made orthogonal twice by
/// classical Gram-Schmidt, all scalar products of a pass in few fused kernels; on a GPU the CPU
/// waits once an iteration, for the small least-squares problem, and there is no graph. All else is
/// as in cg.
///
/// Moves    beside the products, about 4 (j + 2) vectors in the j-th iteration of a cycle.
/// Throws   also argument_error where restart is not 1 to 1000.
/// Source   Saad and Schultz 1986, doi:10.1137/0907058; Saad 2003, algorithm 9.5; twice is enough:
///          Giraud et al. 2005, doi:10.1007/s00211-005-0615-4; flexible: Saad 1993,
///          doi:10.1137/0914028.
template <class V, class B>
solve_report gmres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                   const gmres_options& = {});
template <class V, class B>
solve_report gmres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                   out<V, B> x, const gmres_options& = {});

/// The same for several b, as `cg` takes them: up to 64 share the products and the passes, or as
/// many as restart + 1 vectors of each fit 2 GiB; each has its own least-squares problem. Cycles do
/// not become longer: one whose residual a cycle of `restart` leaves above 0.9 of what it was goes
/// on alone from there, as do all of them where `flexible` is set and there is an M.
///
/// Memory   restart + 6 blocks of vectors, restart + 7 with a preconditioner.
template <class V, class B>
std::vector<solve_report> gmres(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                out_columns<V, B> x, const gmres_options& = {});
template <class V, class B>
std::vector<solve_report> gmres(B on, const linear_operator<V, B>& A,
                                const linear_operator<V, B>& M, in_columns<V, B> b,
                                out_columns<V, B> x, const gmres_options& = {});

}  // namespace nz
