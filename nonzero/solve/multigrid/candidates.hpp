// Vectors that multigrid's coarser levels must represent.
#pragma once

#include <span>

#include "nonzero/core/space.hpp"

namespace nz {

/// Vectors that the smoother hardly reduces, which the coarser levels must represent: the constant
/// for Poisson problems, the rigid-body modes for elasticity.
template <class V, class S = host>
struct candidates {
    index count = 0;  ///< vectors
    array<V, S> val;  ///< rows * count: those of one row side by side

    /// The constant, one for each of a node's `block` unknowns: the candidates where none are
    /// given. first_row: of a larger matrix, where the rows begin.
    static candidates constant(index rows, index block = 1, index first_row = 0);
};

/// The three translations and three rotations of a body in space, for unknowns (u, v, w) a node; of
/// dimension 2 the two translations and the rotation of a body in the plane, for (u, v) a node.
/// @param coordinates  of the nodes, `dimension` a node; their mean is taken for the origin
/// Throws argument_error where dimension is neither 2 nor 3, where the number of coordinates is not
/// a multiple of it, or where one is not finite.
template <class V>
candidates<V> rigid_body_modes(std::span<const double> coordinates, index dimension = 3);

}  // namespace nz
