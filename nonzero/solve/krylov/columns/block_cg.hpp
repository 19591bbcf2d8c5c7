// Block conjugate gradients: several systems with one matrix that search the directions of all.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

/// Solves A x = b for several b, A symmetric (hermitian) positive definite, each x from the space
/// that all of them span: fewer iterations than each takes by itself, the fewer the more b there
/// are, for more arithmetic in each. R, X and Z have a column for each system.
///
///     R = B - A X, Z = M R, W = Z
///     repeat  Q = A W
///             (P, Q) = (W, Q) T     T such that P^H A P = I; directions that depend on others go
///             X = X + P alpha       alpha = P^H R
///             R = R - Q alpha
///             Z = M R
///             W = Z + P beta        beta = -Q^H Z
///     until   |r| <= tol |b| in every column
///
/// P has as many columns as W has independent ones, by a pivoted Cholesky factor of W^H A W: where
/// B has dependent columns, or R comes to have some, nothing breaks down. Blocks of up to 16
/// vectors. What a block does not solve, such as a b that is zero or not finite, is solved by `cg`
/// alone, from its x so far. M: the preconditioner, or null. All of a block take as many
/// iterations. Same bits in every run and for any number of threads where A's and M's products have
/// them.
///
/// Throws   as cg of several b; unavailable where A or M take no vectors by rows.
/// Source   O'Leary 1980, doi:10.1016/0024-3795(80)90247-5; directions that are dropped: Ji and Li
///          2017, doi:10.1007/s10543-016-0631-z.
template <class V>
std::vector<solve_report> block_cg(cpu on, const linear_operator<V, cpu>& A,
                                   const linear_operator<V, cpu>* M, in_columns<V, cpu> b,
                                   out_columns<V, cpu> x, const solve_options& = {});

}  // namespace nz
