// Stabilised bi-conjugate gradients, for matrices that are not symmetric.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

/// Solves A x = b for any regular A by BiCGSTAB, preconditioned from the right, so that the
/// residual is that of A x = b.
///
///     r = b - A x, u = r, p = v = 0
///     repeat  p = r + beta (p - omega v)   beta = (u, r) / its value before * alpha / omega
///             y = M p, v = A y
///             r = r - alpha v              alpha = (u, r) / (u, v)
///             z = M r, t = A z
///             x = x + alpha y + omega z    omega = (t, r) / (t, t)
///             r = r - omega t
///     until   |r| <= tol |b|
///
/// An iteration has two products with A and with M. Where a scalar product to divide by is zero it
/// starts again from where it is, unless that has just happened: then the report says that it broke
/// down. All else is as in cg.
///
/// Moves    beside the products, 18 vectors an iteration.
/// Source   van der Vorst 1992, doi:10.1137/0913035; Saad 2003, algorithm 7.7.
template <class V, class B>
solve_report bicgstab(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                      const solve_options& = {});
template <class V, class B>
solve_report bicgstab(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                      in<V, B> b, out<V, B> x, const solve_options& = {});

/// The same for several b, as `cg` takes them: each has its own scalars, and all share the products
/// and the passes. A system that has not converged within max_iter ends with its last x, or with
/// the guess where that is better: no copy is made of the x of least residual.
///
/// Memory   seven blocks of up to 64 vectors, nine with a preconditioner.
template <class V, class B>
std::vector<solve_report> bicgstab(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                   out_columns<V, B> x, const solve_options& = {});
template <class V, class B>
std::vector<solve_report> bicgstab(B on, const linear_operator<V, B>& A,
                                   const linear_operator<V, B>& M, in_columns<V, B> b,
                                   out_columns<V, B> x, const solve_options& = {});

}  // namespace nz
