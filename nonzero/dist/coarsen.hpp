// One level of multigrid over ranks from the one before.
#pragma once

#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/numbering.hpp"
#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {

/// A rank's rows as setup kernels take them.
template <class V>
struct local_level {
    local_columns columns;  ///< others in whole nodes
    nz::halo halo;          ///< columns.others
    csr<V, host> A;         ///< own rows, numbered locally
    csr<V, host> block;     ///< own rows and own columns
};

/// nodes: unknowns a node. Called by all ranks. A: square, ascending.
template <class V>
local_level<V> make_local_level(const communicator& ranks, const matrix_slice<V>& A, index nodes);

/// How a level is made from the one before.
struct coarsening_over_ranks {
    index block;        ///< unknowns a node
    double eps, omega;  ///< strength; damping over the spectral radius
    offset most;        ///< entries
    index coarse_rows;  ///< up to these one rank takes all
};

/// The next coarser level.
template <class V>
struct coarser_level {
    matrix_slice<V> P, A;
    candidates<V> near;
};

/// Which ranks have a level's rows: fewer than those that `all` names where each would have few.
shares shares_of_level(const shares& all, index coarse_rows);

/// Values of a vector, `width` a row, from those who have them to those who shall. Called by all.
template <class V>
host_vector<V> moved(const communicator& ranks, const shares& from, const shares& to,
                     std::span<const V> own, std::size_t width);

/// P and A of 0 rows in all where the couplings are too weak for a level that is smaller, or where
/// it would have too many entries. near: of this level, orthonormalised within aggregates. Called
/// by all ranks.
template <class V>
coarser_level<V> coarsen(cpu on, const communicator& ranks, const shares& rows,
                         const local_level<V>& level, const aggregation& own,
                         std::span<const V> diagonal, candidates<V> near,
                         const coarsening_over_ranks&);

}  // namespace nz
