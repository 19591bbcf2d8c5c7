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

/// The three translations and three rotations of a body in space, for unknowns (u, v, w) a node.
/// @param xyz  coordinates of the nodes, three a node; their mean is taken for the origin
/// Throws argument_error where their number is not a multiple of three.
template <class V>
candidates<V> rigid_body_modes(std::span<const double> xyz);

}  // namespace nz
