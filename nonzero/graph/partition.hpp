// A graph in parts of equal size, nearly, between which few edges run.
#pragma once

#include <string>
#include <vector>

#include "nonzero/graph/bisection.hpp"

namespace nz {

enum class partition_method {
    automatic,  ///< METIS where it is installed, else spectral
    metis,      ///< throws unavailable where it is not installed
    spectral    ///< recursive spectral bisection
};

struct partition_options {
    index parts = 2;
    partition_method method = partition_method::automatic;
    /// The heaviest part over the mean, less 1, at most. A part of ceil(nodes / parts) may always
    /// be.
    double imbalance = 0.03;
    /// False: METIS is left out, as where it is not installed.
    bool with_metis = true;
    fiedler_options fiedler = {};  ///< the search of every spectral bisection
};

/// One of the partitions that were compared.
struct partition_candidate {
    std::string name;    ///< components, metis.recursive, metis.kway, metis.recursive.loose,
                         ///< metis.kway.loose, metis.pieces, metis.peeled, spectral, rcm, natural
    offset cut = 0;      ///< edges between the parts, as it came
    index heaviest = 0;  ///< nodes of the largest part, as it came; may be more than is allowed
    offset refined = 0;  ///< edges cut after `refine`, with which it keeps the balance
};

struct partition_result {
    host_vector<index> part;   ///< the part of each node: 0 to parts - 1
    host_vector<index> sizes;  ///< nodes of each part
    offset cut = 0;            ///< edges between the parts
    double imbalance = 0;      ///< nodes of the heaviest part over the mean, less 1
    index components = 0;      ///< connected components of the graph
    index isolated = 0;        ///< components of one node
    index largest = 0;         ///< nodes of the largest component
    partition_method method = partition_method::automatic;  ///< used: metis or spectral
    std::string winner;                                     ///< name of the candidate that is kept
    std::vector<partition_candidate> candidates;            ///< all that were compared
    spectral_report search;  ///< the spectral candidate's; without searches where there was none
};

/// Cuts a graph into parts of at most max(ceil(n / parts), (1 + imbalance) n / parts) nodes.
///
/// Where its connected components can be packed into such parts, no edge is cut, and nothing else
/// is tried (`pack` has the limits of that search). Else the partitions below are made, brought
/// into balance and refined by moves of single nodes (`refine`), and that which cuts fewest edges
/// is kept; of equal ones that which is named first here:
/// - with METIS, unless it is missing, left out, or the graph too large for it or of one node a
///   part: the whole graph, recursively and by kway, with METIS's own tolerances (metis.recursive,
///   metis.kway) and, from 16 nodes a part on, with `imbalance` (the same, .loose); only the
///   components that are too large for one part, all packed afterwards, where that fits: into
///   equal pieces (metis.pieces), or into full ones and a rest (metis.peeled);
/// - spectral, where that is the method: the largest component cut by its Fiedler vector, the
///   others packed, and each half again;
/// - reverse Cuthill-McKee's order in equal pieces (rcm), and the nodes' own order (natural).
///
/// A part can be empty where the others hold all. Same bits in every run with the same plan and the
/// same METIS. Throws argument_error where the graph is not one (validate), where parts is not 1 to
/// max(n, 1), or an option is negative or no number; unavailable where METIS is asked for and not
/// installed; and what planning throws.
/// Source: Karypis and Kumar 1998; Pothen, Simon, Liou 1990.
template <class B>
partition_result partition(B on, const adjacency&, const partition_options& = {});

/// The graph of the pattern of A + A^T, on the CPU. The values do not count, whatever they are: an
/// entry that is stored is an edge. Throws argument_error also where A is malformed or not square.
template <class V>
partition_result partition(const csr<V, host_view>& A, const partition_options& = {});
template <class V>
partition_result partition(const csr<V, host>& A, const partition_options& o = {}) {
    return partition(view(A), o);
}

/// Edges between the parts of a graph.
offset cut_of(const adjacency&, std::span<const index> part);
/// Edges that a random cut into `parts` parts of equal size, nearly, is expected to cut.
double expected_random_cut(const adjacency&, index parts = 2);

}  // namespace nz
