// Induced dimension reduction, for matrices that are not symmetric.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

/// Solves A x = b for any regular A by IDR(4), preconditioned from the right, so that the residual
/// is that of A x = b. Residuals lie in spaces G_0, G_1, ..., each of which is smaller than the one
/// before by the directions of four random vectors P, the same in every run:
///
///     repeat  f = P^H r
///             for k = 0 to 3
///                 v = r - G c, u = omega M v + U c       M c = f from row k on, (M)_ij = (P_i,
///                 G_j) U_k = u - U alpha, G_k = A U_k          so that (P_i, G_k) = 0 for i below
///                 k r = r - beta G_k, x = x + beta U_k      beta = f_k / (M)_kk
///             t = A M r, r = r - omega t, x = x + omega M r
///     until   |r| <= tol |b|
///
/// An iteration has one product with A and with M; five of them reduce the space once. In exact
/// arithmetic n + n / 4 of them suffice, where BiCGSTAB takes 2 n products. Where a scalar to
/// divide by is zero it starts again from where it is, unless that has just happened. All else is
/// as in bicgstab.
///
/// Moves    beside the products, 23 vectors an iteration on average.
/// Source   van Gijzen and Sonneveld 2011, doi:10.1145/2049662.2049667 (with biorthogonal
///          directions, the alpha all at once, which saves passes); Sonneveld and van Gijzen 2008,
///          doi:10.1137/070685804.
template <class V, class B>
solve_report idrs(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                  const solve_options& = {});
template <class V, class B>
solve_report idrs(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M, in<V, B> b,
                  out<V, B> x, const solve_options& = {});

}  // namespace nz
