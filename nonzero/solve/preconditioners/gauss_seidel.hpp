// Symmetric Gauss-Seidel as a preconditioner, colour by colour.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// y = M x with M the inverse of (D + L) D^-1 (D + U), where A = L + D + U once its rows and
/// columns are ordered by colours: one sweep over the unknowns forth and one back. Unknowns of one
/// colour do not meet, so each colour is one product with the rows' part that was computed before,
/// through its own plan: 2 (colours - 1) products in all, and no kernel of its own.
///
/// Moves    what A's product moves, and 10 vectors or so.
/// Suits    few colours: 2 for a 5- or 7-point stencil, dozens for elements of high order.
/// Throws   argument_error where A is not square or a diagonal entry is zero, missing or not
///          finite, with its row, named from first_row on, where A's rows begin in the matrix
///          that it is a block of.
/// Source   Saad 2003, sections 10.2 and 12.4 (multicolour SSOR with omega = 1).
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> gauss_seidel(B on, const ascending<V>& A,
                                                    index first_row = 0);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> gauss_seidel(B on, const csr<V, host_view>& A,
                                                    index first_row = 0) {
    return gauss_seidel(on, ascending(A), first_row);
}

}  // namespace nz
