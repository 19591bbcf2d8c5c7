// The Laplacian of a graph, and Fiedler's vector of it.
#pragma once

#include "nonzero/graph/adjacency.hpp"
#include "nonzero/solve/eigs/eigs.hpp"

namespace nz {

/// The Laplacian of a graph: degrees on the diagonal, -1 for every edge. Its smallest eigenvalue is
/// 0, of constant vectors; the second one is 0 only where the graph is in pieces.
csr<double, host> laplacian_of(const adjacency&);

enum class fiedler_preconditioner { none, jacobi, amg };

struct fiedler_options {
    double tol = 1e-3;                 ///< tolerance of |L v - lambda v| / lambda, with |v| = 1
    std::int64_t max_products = 5000;  ///< at most, nearly
    fiedler_preconditioner preconditioner = fiedler_preconditioner::amg;
};

struct fiedler_result {
    host_vector<double> v;    ///< n elements, of length 1, orthogonal to constant vectors
    double connectivity = 0;  ///< lambda = v^T L v, from above the second smallest eigenvalue
    double residual = 0;      ///< |L v - lambda v| / lambda, computed at the end
    bool converged = false;   ///< residual <= tol
    std::string why;          ///< the search ended, in one sentence
    std::int64_t products = 0;
};

/// Fiedler's vector of a connected graph: the eigenvector of the Laplacian's second smallest
/// eigenvalue, by eigs. As its tolerance is one of |L|, which is far above lambda, the search is
/// taken up again with a smaller one until the residual is small against lambda. An eigenvalue lies
/// within residual x lambda of lambda; whether it is the second one no residual can say. Same bits
/// in every run with the same plan. Not converging is a value.
///
/// Throws argument_error where the graph is not one (validate), is in pieces or has fewer than two
/// nodes, or where an option is negative or no number; and what planning and multigrid's setup
/// throw.
/// Source: Fiedler 1973; Pothen, Simon, Liou 1990.
template <class B>
fiedler_result fiedler(B on, const adjacency& connected, const fiedler_options& = {});

}  // namespace nz
