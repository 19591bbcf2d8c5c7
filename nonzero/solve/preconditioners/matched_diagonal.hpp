// The inverse of the large entries that a matching brings onto the diagonal.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// y_j = x_i / a_ij for the pairs of row i and column j of a maximum product matching: Jacobi's
/// preconditioner of the rows so permuted, also where A's diagonal has zeros. One product of a
/// matrix with an entry a row, on the backend. Deterministic.
/// Throws   argument_error where A is not square, not finite or structurally singular, naming a row
///          and a column from first_row on.
/// Source   Duff and Koster 2001, doi:10.1137/S0895479899358443.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> matched_diagonal(B on, const ascending<V>& A,
                                                        index first_row = 0);

}  // namespace nz
