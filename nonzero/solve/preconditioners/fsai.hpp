// A factorised sparse approximate inverse of a definite matrix, as a preconditioner.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"

namespace nz {

/// y = G^H (G x) with G lower triangular such that G A G^H, near the identity, has ones on the
/// diagonal and (G A)_ij = 0 on the pattern beside it: two products, each planned, and no row that
/// waits for another. Symmetric (hermitian) positive definite, so that conjugate gradients may use
/// it. Made on the CPU by all threads, a small dense Cholesky factorisation for each row; same bits
/// on every run and for any number of threads. first_row: where A's rows begin in the matrix that
/// it is a block of, from which rows are named.
///
/// Moves    two products with G, which has the entries of half of A (of A^2).
/// Suits    symmetric positive definite matrices on a GPU, or on many threads.
/// Throws   argument_error where A is not square, not finite, not symmetric (hermitian) or not
///          positive definite, naming the row where that is seen, or where an option is out of
///          range.
/// Source   Kolotilina and Yeremin 1993, doi:10.1137/0614004.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> fsai(B on, const ascending<V>& A,
                                            const incomplete_options& = {}, index first_row = 0);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> fsai(B on, const csr<V, host_view>& A,
                                            const incomplete_options& options = {},
                                            index first_row = 0) {
    return fsai(on, ascending(A), options, first_row);
}

}  // namespace nz
