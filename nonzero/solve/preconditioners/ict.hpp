// Incomplete Cholesky factorisation by threshold and with a limit of fill, as a preconditioner.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"
#include "nonzero/solve/preconditioners/ilut.hpp"

namespace nz {

/// y = L^-H L^-1 x with L L^H near A, scaled to a diagonal of ones: of a column, entries below
/// `drop` times the norm of A's column are left out, and all but the largest, `fill` times the mean
/// entries of a row of A. Symmetric (hermitian) positive definite, so that conjugate gradients may
/// use it. Where a pivot is not positive, A with a part of its diagonal added is factored: 0.001,
/// doubled until a factor exists. Factored by one thread, applied by all; same bits on every run
/// and for any number of threads. first_row: where A's rows begin in the matrix that it is a block
/// of, from which rows are named. report: is set, where it is not null.
///
/// Moves    the factor, twice, and 4 vectors; on a GPU that of two planned products of the factor's
///          pattern, the diagonal included.
/// Suits    symmetric positive definite matrices for which ic(0) takes hundreds of iterations and
///          levels of fill take what does not matter: entries of very different sizes.
/// Throws   as ic; argument_error where drop is not from 0 to 1 or fill is negative.
/// Source   Lin and More 1999, doi:10.1137/S1064827597327334 (limit, scaling, shift); Jones and
///          Plassmann 1995, doi:10.1145/200979.200981 (columns).
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ict(B on, const ascending<V>& A,
                                           const ilut_options& = {.drop = 1e-3, .fill = 2},
                                           index first_row = 0, factor_report* report = nullptr);

}  // namespace nz
