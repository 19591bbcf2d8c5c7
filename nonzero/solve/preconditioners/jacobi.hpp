// Jacobi preconditioners: the inverse of the diagonal, or of the blocks on it.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// y_i = x_i / a_ii. Throws argument_error, naming the row, where a_ii is zero, missing or not
/// finite, and where A is not square. first_row: where A's rows begin in the matrix that it is a
/// block of, from which rows are named.
/// Source   Saad 2003, section 10.2.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> jacobi(B on, const ascending<V>& A, index first_row = 0);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> jacobi(B on, const csr<V, host_view>& A,
                                              index first_row = 0) {
    return jacobi(on, ascending(A), first_row);
}
/// The inverses of the dense `block` x `block` blocks on the diagonal (the last one may be
/// smaller), as a matrix whose product has its own plan. Deterministic.
/// Throws   argument_error where A is not square, block is not 1 to 64, or a block is singular,
///          with its first row, named as above.
/// Source   Saad 2003, section 10.2.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> block_jacobi(B on, const ascending<V>& A, index block,
                                                    index first_row = 0);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> block_jacobi(B on, const csr<V, host_view>& A, index block,
                                                    index first_row = 0) {
    return block_jacobi(on, ascending(A), block, first_row);
}

}  // namespace nz
