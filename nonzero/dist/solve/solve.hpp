// A x = b over ranks, by what suits A.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz {

/// As nz::solve of a whole matrix, over on.ranks: b and x are this rank's elements, on the host.
///
/// Symmetry and the diagonal are looked at over all ranks. amg is distributed_amg, over all ranks.
/// The other preconditioners are those of the rank's own block, rows and columns: entries between
/// ranks do not enter them, so that with more ranks sgs and block-jacobi take more iterations;
/// jacobi takes as many. A whose diagonal is negative throughout is negated with b. Where nothing
/// is asked for:
///
///     symmetric, diagonal positive    cg with jacobi
///     symmetric                       minres with |diagonal|, then gmres with jacobi
///     else                            bicgstab, then gmres, with jacobi
///
/// without a preconditioner where the diagonal has a zero. The next one starts from what the one
/// before has left. A is not needed afterwards. Called by all ranks; all get the same report but
/// for times.
///
/// Throws   on all ranks, as `solve` of a whole matrix; argument_error where on.ranks is null.
template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& = {});

}  // namespace nz
