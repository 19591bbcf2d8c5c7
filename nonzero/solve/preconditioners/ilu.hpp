// Incomplete LU factorisation by level of fill, as a preconditioner.
#pragma once

#include <string>

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"

namespace nz {

/// y = U^-1 L^-1 x with L U = A on the pattern of both. Factored by all threads, row by row; on a
/// GPU there, where the level is 0, every diagonal entry is stored and rows do not form long
/// chains. Same bits on every run, for any number of threads, and of the factors on a GPU. A
/// diagonal entry that is missing is added. first_row: where A's rows begin in the matrix that it
/// is a block of, from which rows are named. report: is set, where it is not null.
///
/// Moves    the factors, and 4 vectors; on a GPU that of two planned products of the factors'
///          pattern, the diagonals included.
/// Suits    nonsymmetric matrices with a diagonal: convection and diffusion, circuits. Not those
///          with zeros on the diagonal, and unknowns whose order is far from how they depend on
///          each other: order and scale them before.
/// Throws   argument_error where A is not square or not finite, where an option is out of range,
///          or, naming the row, where a row is zero or the factor overflows.
/// Source   Saad 2003, sections 10.3.1 and 10.3.3 (ILU(0), ILU(p)).
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ilu(B on, const ascending<V>& A,
                                           const incomplete_options& = {}, index first_row = 0,
                                           factor_report* report = nullptr);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ilu(B on, const csr<V, host_view>& A,
                                           const incomplete_options& options = {},
                                           index first_row = 0, factor_report* report = nullptr) {
    return ilu(on, ascending(A), options, first_row, report);
}

}  // namespace nz
