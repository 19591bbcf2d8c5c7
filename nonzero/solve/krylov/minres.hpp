// Minimal residuals, for symmetric matrices that are not definite.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

/// Solves A x = b for symmetric (hermitian) A, definite or not, by MINRES: Lanczos vectors v_j that
/// are orthonormal in the inner product of M, the tridiagonal matrix T of A in them made
/// triangular by rotations, and x that minimises the residual's norm (r, M r).
///
///     r = b - A x, v = r, z = M v, gamma = sqrt((z, v)), eta = gamma
///     repeat  q = A z
///             delta = (q, z) / gamma^2
///             v' = q / gamma - delta / gamma v - gamma / (its value before) v before
///             w' = z / gamma - (s before) gamma w before - (s delta + (c before) c gamma) w
///             z = M v', gamma' = sqrt((z, v'))
///             c, s rotate gamma' away;   alpha, gamma' -> a
///             x = x + c eta / a w',   r = s^2 r - c eta / a v',   eta = -s eta
///     until   |r| <= tol |b|
///
/// M, where given, must be positive definite; where it is not, as far as the iterations see it, the
/// report says so. Where A is singular to working precision and b no product of A, it ends when
/// no direction is left that reduces the residual, with x near least squares, and says that. All
/// else is as in cg.
///
/// Moves    beside the products, 12 vectors an iteration, 18 with a preconditioner.
/// Source   Paige and Saunders 1975, doi:10.1137/0712047; with a preconditioner Elman, Silvester,
///          Wathen 2014, algorithm 4.1.
template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                    const solve_options& = {});
template <class V, class B>
solve_report minres(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                    in<V, B> b, out<V, B> x, const solve_options& = {});

/// The same for several b, as `cg` takes them: each has its own scalars, and all share the products
/// and the passes.
///
/// Memory   eight blocks of up to 64 vectors, nine with a preconditioner.
template <class V, class B>
std::vector<solve_report> minres(B on, const linear_operator<V, B>& A, in_columns<V, B> b,
                                 out_columns<V, B> x, const solve_options& = {});
template <class V, class B>
std::vector<solve_report> minres(B on, const linear_operator<V, B>& A,
                                 const linear_operator<V, B>& M, in_columns<V, B> b,
                                 out_columns<V, B> x, const solve_options& = {});

}  // namespace nz
