// A x = b over ranks, by what suits A.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz {

/// As nz::solve of a whole matrix, over on.ranks: b and x are this rank's elements, on the host.
///
/// The same methods and preconditioners are tried in the same order, by what all ranks see of A,
/// and an attempt ends, and another begins, by the same rules. amg is distributed_amg, over all
/// ranks. The other preconditioners are those of the rank's own block, rows and columns: entries
/// between ranks do not enter them, so that with more ranks sgs and block-jacobi take more
/// iterations; jacobi takes as many. A is not needed afterwards; its rows are held twice while more
/// than one attempt may come, or while multigrid's levels are made. Called by all ranks; all get
/// the same report but for times.
///
/// Throws   on all ranks, as `solve` of a whole matrix, naming the whole matrix's rows;
///          argument_error where on.ranks is null.
template <class V, class B>
system_report solve(B on, matrix_slice<V> A, std::span<const V> b, std::span<V> x,
                    const system_options& = {});

}  // namespace nz
