// The levels of multigrid over ranks: one loop, on either backend.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {

/// Adds A's levels and tells about them. A: square, ascending, shared out in whole nodes. near: of
/// the rank's rows; where there is none: the constant, one for each of a node's unknowns. finest:
/// multiplies by A, or null. Called by all ranks of on.ranks.
template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options&, const candidates<V>& near,
                 const linear_operator<V, B>* finest, multigrid_levels<V, B>& levels,
                 amg_report& report);

}  // namespace nz
