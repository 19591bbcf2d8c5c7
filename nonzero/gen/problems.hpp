// All model problems, each a function, and their one list.
#pragma once

#include <vector>

#include "nonzero/gen/generate.hpp"

namespace nz {

/// The 27-point stencil on an nx x ny x nz grid: 26 on the diagonal, -1 for each neighbour, those
/// across edges and corners included. Symmetric positive definite. Source: the HPCG benchmark.
template <class V>
csr<V, host> laplace27(index nx, index ny, index nz);

/// Linear elasticity on nx x ny x nz cubes of side 1, trilinear, exactly integrated, Young's
/// modulus 1: 3 unknowns (u, v, w) a node, x varies fastest, the nodes of the face x = 0 clamped
/// and left out. rows = 3 nx (ny + 1) (nz + 1); dense 3 x 3 blocks, zeros among them stored.
/// Symmetric to the last bit, positive definite. poisson: its ratio, in (-1, 0.5).
template <class V>
csr<V, host> elasticity3d(index nx, index ny, index nz, double poisson);

/// The coordinates of elasticity3d's nodes in their order, three a node: for the rigid-body modes.
host_vector<double> elasticity3d_nodes(index nx, index ny, index nz);

/// Row i has the diagonal and, each with probability `fill`, the columns up to `half_width` away.
/// Values uniform in [-1, 1].
template <class V>
csr<V, host> banded(index n, index half_width, double fill, std::uint64_t seed);

/// Every row has `per_row` distinct columns, uniform among all; values uniform in [-1, 1].
template <class V>
csr<V, host> random(index rows, index cols, index per_row, std::uint64_t seed);

/// Row lengths follow a power law: P(length >= l) ~ l^(1 - exponent), `mean` on average (less what
/// n cuts off), at most n; columns uniform, values in [-1, 1]. exponent > 2.
template <class V>
csr<V, host> powerlaw(index n, double mean, double exponent, std::uint64_t seed);

/// A directed graph of 2^scale vertices by recursion: each of 2^scale * per_row edges chooses a
/// quadrant of the matrix, with probability a, b, c (and 1 - a - b - c), `scale` times over.
/// Duplicates are dropped, loops kept; values uniform in [-1, 1]. scale: 0 to 30.
/// Source: Chakrabarti et al., SDM'04, doi:10.1137/1.9781611972740.43.
template <class V>
csr<V, host> rmat(int scale, index per_row, double a, double b, double c, std::uint64_t seed);

/// Conductances of a circuit of n nodes: a wire to the node before, `per_node` more, most of them
/// to near nodes and one in ten to any, and of every 16 nodes one that hangs on one of `rails`
/// supply rails, whose rows are long. Symmetric, strictly diagonally dominant, positive definite.
template <class V>
csr<V, host> circuit(index n, index per_node, index rails, std::uint64_t seed);

/// Stokes flow on nx x ny cells of side 1, velocities on their faces and a pressure in each
/// (marker and cell): (A, B^T; B, 0), A -Laplace of the velocities, all along x, then along y. They
/// are zero on the walls and leave freely where x is largest. Symmetric indefinite, regular. ny: 2
/// or more. Source: Harlow and Welch 1965, doi:10.1063/1.1761178.
template <class V>
csr<V, host> stokes2d(index nx, index ny);
/// The same on nx x ny x nz cells. ny and nz: 2 or more.
template <class V>
csr<V, host> stokes3d(index nx, index ny, index nz);

/// -Laplace on nx x ny squares of side 1 as a system of first order, by Raviart-Thomas elements of
/// lowest order: (M, B^T; B, 0), a flux through each face, along x, then along y, and a value in
/// each square, zero around them. Symmetric indefinite, regular.
template <class V>
csr<V, host> mixed2d(index nx, index ny);

/// n x n dense blocks of the given side: `per_row` distinct ones in each block row, uniform among
/// all, the one on the diagonal not always among them. Values uniform in [-1, 1].
template <class V>
csr<V, host> blocks(index n, index side, index per_row, std::uint64_t seed);

struct parameter {
    const char* name;
    double value;  ///< where none is given
    bool whole;    ///< a whole number
    const char* what;
};

/// A model problem as a table row: what the command and its help are made from.
template <class V>
struct generator {
    const char* name;
    const char* what;
    std::vector<parameter> parameters;
    bool seeded;  ///< the seed makes a difference
    csr<V, host> (*make)(std::span<const double> parameters, std::uint64_t seed);
};

/// Every generator, by name.
template <class V>
const std::vector<generator<V>>& generators();

}  // namespace nz
