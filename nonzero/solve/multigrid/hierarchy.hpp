// The levels of multigrid: one loop, of one process or over ranks, on either backend.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/solve/multigrid/candidates.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"

namespace nz {

/// Adds A's levels and tells about them. A: square, its diagonal positive. near: where
/// there is none, the constant, one for each of a node's unknowns. finest: multiplies by A, or
/// null. diagonal: A's.
template <class V, class B>
void make_levels(B on, const ascending<V>& A, host_vector<V> diagonal, const amg_options&,
                 const candidates<V>& near, const linear_operator<V, B>* finest,
                 multigrid_levels<V, B>& levels, amg_report& report);

/// The same of a matrix that is shared out in whole nodes, whose diagonal is checked. near: of the
/// rank's rows. Called by all ranks of on.ranks.
template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options&, const candidates<V>& near,
                 const linear_operator<V, B>* finest, multigrid_levels<V, B>& levels,
                 amg_report& report);

}  // namespace nz
