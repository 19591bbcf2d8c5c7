// Spectral bisection: a graph in two halves, or in more parts by halving again.
#pragma once

#include "nonzero/graph/fiedler.hpp"

namespace nz {

using bisection_options = fiedler_options;

struct bisection {
    host_vector<index> part;      ///< the part of each node: 0 or 1
    host_vector<double> fiedler;  ///< the Fiedler vector of the largest component; 0 on the others
    double connectivity = 0;      ///< the Laplacian's second smallest eigenvalue: 0 in pieces
    offset cut = 0;               ///< edges between the parts
    index sizes[2] = {0, 0};      ///< nodes of the parts, which differ by one at most
    fiedler_result search;        ///< outcome of the search; without the vector
};

/// Two halves: of whole components where these can be packed so, with no edge between them; else
/// the largest is cut where its Fiedler vector, sorted, is cut through the fewest edges of those
/// places at which the others fill the halves. A connected graph is cut at the median; of equal
/// elements the lower nodes come first. A vector that has not converged cuts, too: the report says
/// so. Same bits in every run with the same plan. Throws what fiedler throws for a graph or an
/// option.
/// Source: Fiedler 1973; Pothen, Simon, Liou 1990.
template <class B>
bisection bisect(B on, const adjacency&, const bisection_options& = {});

/// Outcome of the searches for Fiedler vectors, one for each component that was cut.
struct spectral_report {
    int searches = 0;         ///< 0: components alone did
    double connectivity = 0;  ///< lambda of the component that was cut first
    double residual = 0;      ///< |L v - lambda v| / lambda, the largest
    bool converged = true;    ///< all of them
    std::string why;          ///< the first one ended that did not converge, or else the first
    std::int64_t products = 0;
};
struct spectral_parts_result {
    host_vector<index> part;  ///< the part of each node: 0 to parts - 1
    spectral_report search;
};

/// `parts` parts of at most `room` nodes each, by recursive bisection; where components can be
/// packed, they are, and no edge is cut. Between the halves the balance gives as much way as leaves
/// each level of bisections the same. Same bits in every run with the same plan. Throws as bisect
/// does, and argument_error where parts is not positive or parts x room does not hold all nodes.
template <class B>
spectral_parts_result spectral_parts(B on, const adjacency&, index parts, std::int64_t room,
                                     const fiedler_options& = {});

}  // namespace nz
