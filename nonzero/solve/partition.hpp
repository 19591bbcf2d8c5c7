// A graph in two halves, between which few edges run.
#pragma once

#include "nonzero/solve/adjacency.hpp"
#include "nonzero/solve/eigs.hpp"

namespace nz {

/// The Laplacian of a graph: degrees on the diagonal, -1 for every edge. Its smallest eigenvalue is
/// 0, of constant vectors; the second one is 0 only where the graph is in pieces.
csr<double, host> laplacian_of(const adjacency&);

enum class partition_preconditioner { none, jacobi, amg };

struct bisection_options {
    double tol = 1e-4;  ///< of the Fiedler vector, as eigs_options has it
    std::int64_t max_products = 5000;
    partition_preconditioner preconditioner = partition_preconditioner::amg;
};

struct bisection {
    host_vector<index> part;      ///< of each node: 0 or 1
    host_vector<double> fiedler;  ///< the eigenvector of connectivity
    double connectivity = 0;      ///< the Laplacian's second smallest eigenvalue
    offset cut = 0;               ///< edges between the parts
    index sizes[2] = {0, 0};      ///< nodes of the parts, which differ by one at most
    eigs_report search;
};

/// Cuts a graph at the median of its Fiedler vector; of equal elements the lower nodes come first.
/// A vector that has not converged cuts, too: the report says so. Same bits in every run.
/// Throws what planning and multigrid's setup throw.
/// Source: Fiedler 1973; Pothen, Simon, Liou 1990.
template <class B>
bisection bisect(B on, const adjacency&, const bisection_options& = {});

/// Edges between the parts of a graph.
offset cut_of(const adjacency&, std::span<const index> part);
/// Edges that a random cut into halves is expected to cut.
double expected_random_cut(const adjacency&);

}  // namespace nz
