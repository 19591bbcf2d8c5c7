// Incomplete Cholesky factorisation by level of fill, as a preconditioner.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"

namespace nz {

/// y = L^-H L^-1 x with L L^H = A on the pattern of both, symmetric (hermitian) positive definite,
/// so that conjugate gradients may use it. Where that does not exist, as it does for M-matrices, it
/// is that of A with a part of its diagonal added: 0.001, doubled until a factor exists. Factored
/// on the CPU by all threads, row by row; same bits on every run and for any number of threads.
/// first_row: where A's rows begin in the matrix that it is a block of, from which rows are named.
/// report: is set, where it is not null.
///
/// Moves    the factor, twice, and 4 vectors; on a GPU that of two planned products of the factor's
///          pattern, the diagonal included.
/// Suits    symmetric positive definite matrices that are not elliptic enough for multigrid, or
///          too small.
/// Throws   argument_error where A is not square, not finite, not symmetric (hermitian), has a
///          diagonal entry that is not positive, or is so far from definite that a thousand times
///          its diagonal is not enough, naming the row; or where an option is out of range.
/// Source   Saad 2003, section 10.3; Manteuffel 1980, doi:10.1090/S0025-5718-1980-0559197-0 (the
///          shift).
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ic(B on, const ascending<V>& A,
                                          const incomplete_options& = {}, index first_row = 0,
                                          factor_report* report = nullptr);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> ic(B on, const csr<V, host_view>& A,
                                          const incomplete_options& options = {},
                                          index first_row = 0, factor_report* report = nullptr) {
    return ic(on, ascending(A), options, first_row, report);
}

}  // namespace nz
