// Incomplete LU by threshold, of a matrix whose large entries are brought onto the diagonal first.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

struct ilut_options {
    /// Entries below this share of the norm of their row are dropped.
    double drop = 1e-4;
    /// The entries that a row of L, and of U, may have, over the mean entries of a row of A.
    double fill = 5;
};

/// y = (L U)^-1 x, where L U is near A: rows permuted and scaled by a maximum product matching,
/// columns in an order of minimum degree, then rows eliminated one after the other, entries below
/// `drop` left out, as are all but the largest of a row. A pivot that is zero gives way to `drop`
/// times the norm of its row. Factored by one thread, applied by all; same bits in every run. On a
/// GPU vectors are copied to the CPU and back, and it waits.
/// Throws   argument_error where A is not square, not finite or structurally singular, naming rows
///          from first_row on, or an option is out of its range.
/// Source   Saad 1994, doi:10.1002/nla.1680010405.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ilut(B on, const ascending<V>& A, const ilut_options& = {},
                                            index first_row = 0);

}  // namespace nz
