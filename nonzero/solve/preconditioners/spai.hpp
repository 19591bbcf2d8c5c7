// A sparse approximate inverse of a matrix that need not be symmetric, as a preconditioner.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/preconditioners/factors.hpp"

namespace nz {

/// y = M x, where each row of M, on the pattern of A's row (level 1: of A^2's) and the diagonal, is
/// the one for which |e_i - m_i A| is least: one planned product, and no row that waits for
/// another. Made on the CPU by all threads, a small dense least-squares problem for each row; same
/// bits on every run and for any number of threads. Of a pattern the `longest_row` largest entries
/// are taken, and no rows of A with more than 1,000 entries but the diagonal's: a row that couples
/// to them would take the time of all that they couple to. first_row: where A's rows begin in the
/// matrix that it is a block of, from which rows are named. report: is set, where it is not null.
///
/// Moves    a product with M, which has the entries of A (of A^2).
/// Suits    nonsymmetric matrices on a GPU, or on many threads, whose inverse decays: large
///          diagonals, little convection.
/// Throws   argument_error where A is not square or not finite, where an option is out of range,
///          or, naming the row, where a row of M is zero (A is then singular, or has nothing in the
///          columns of the pattern) or overflows.
/// Source   Benson and Frederickson 1982; Grote and Huckle 1997, doi:10.1137/S1064827594276552;
///          Chow 2000, doi:10.1137/S1064827598339372 (patterns of powers).
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> spai(B on, const ascending<V>& A,
                                            const incomplete_options& = {}, index first_row = 0,
                                            factor_report* report = nullptr);
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> spai(B on, const csr<V, host_view>& A,
                                            const incomplete_options& options = {},
                                            index first_row = 0, factor_report* report = nullptr) {
    return spai(on, ascending(A), options, first_row, report);
}

}  // namespace nz
