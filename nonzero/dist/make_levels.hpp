// The levels of multigrid over ranks: one loop, on either backend.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/multigrid/cycle.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {

/// Adds A's levels and tells about them. A: square, ascending, no row of more ranks than hold some
/// of its level; near: of its rows. finest: multiplies by A, or null. Called by all ranks of
/// on.ranks.
template <class V, class B>
void make_levels(B on, const matrix_slice<V>& A, const amg_options&, candidates<V> near,
                 const linear_operator<V, B>* finest, multigrid_levels<V, B>& levels,
                 amg_report& report);

}  // namespace nz
