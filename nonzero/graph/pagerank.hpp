// PageRank: where a walk along a graph's links is found in the long run.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nonzero/dist/slice.hpp"
#include "nonzero/plan/plan.hpp"
#include "nonzero/vector/vector_space.hpp"

namespace nz {

struct pagerank_options {
    /// Meaning of an entry in row i and column j of a graph's matrix.
    enum class links {
        row_links_to_column,  ///< a link from i to j
        column_links_to_row,  ///< a link from j to i
    };
    struct report;
    template <class V>
    struct result;

    double damping = 0.85;         ///< probability of following a link; between 0 and 1
    double tol = 1e-10;            ///< tolerance of the change in one iteration, |r' - r|_1
    std::int64_t max_iter = 1000;  ///< at most
    bool graph = true;  ///< on a GPU: iterations as a CUDA graph, as solve_options has it
    /// Called in order for each iteration with its change, in batches; false ends the ranking.
    std::function<bool(std::int64_t iteration, double change)> monitor = {};
};

struct pagerank_options::report {
    bool converged = false;  ///< the last change is at most tol
    std::int64_t iterations = 0;
    double change = 0;            ///< change in the last iteration, |r' - r|_1
    std::vector<double> history;  ///< the change of every iteration
    bool in_graph = false;        ///< the iterations ran in a CUDA graph
    double setup_s = 0;           ///< making vectors and graph                                [s]
    double iterations_s = 0;      ///< the iterations alone                                    [s]

    /// The ranks are at most so far from those of infinitely many iterations, |r - r*|_1, rounding
    /// apart.
    [[nodiscard]] double error_bound(double damped_by) const {
        return change * damped_by / (1 - damped_by);
    }
    [[nodiscard]] double iteration_s() const {
        return iterations > 0 ? iterations_s / double(iterations) : 0;
    }
};

template <class V>
struct pagerank_options::result {
    host_vector<V> rank;  ///< the rank of every node; they sum to 1
    pagerank_options::report report;
};

/// A graph on B, ready to be ranked, as often as there are teleport vectors.
///
///     x_j = r_j / (links that leave j)
///     q   = L x                            L_ij = 1 where j links to i: planned, its values never
///     r   = d q + (1 - d + d m) t          stored; m: the ranks of nodes without links
///
/// Every entry of G's pattern is one link, whatever its value; loops are links. A walk that comes
/// to a node without links goes on as the teleport vector t has it. Same bits in every run.
///
/// Moves    beside the product, 3 vectors and 4 bytes a node an iteration; a 4th vector where t
///          is given.
/// Source   Page, Brin, Motwani, Winograd 1999; dangling nodes as in Langville and Meyer 2006,
///          chapter 4.
template <class V, class B>
class pagerank_graph {
  public:
    /// @param G  not needed any more afterwards
    /// Throws argument_error where G is malformed or not square; and what planning throws.
    pagerank_graph(B on, const csr<V, host_view>& G, pagerank_options::links);
    /// The same of a graph in the GPU's memory, which stays there: the CPU gets the links that
    /// leave each node.
    pagerank_graph(B on, const csr<V, device_view>& G,
                   pagerank_options::links) requires std::is_same_v<B, gpu>;

    /// The same of a graph that is shared out over on.ranks: each gets the ranks of its own nodes.
    /// Called by all ranks. Throws, on all of them, also argument_error where on.ranks is null.
    pagerank_graph(B on, matrix_slice<V> G, pagerank_options::links);
    /// From the product with L, which must be built with values of one, and the links that leave
    /// each node: where nodes are shared out over on.ranks, this rank's. Called by all ranks.
    /// Throws argument_error, on all of them, where the lengths differ.
    pagerank_graph(B on, std::unique_ptr<linear_operator<V, B>> product, host_vector<index> links);

    /// Over ranks called by all of them, with the same options: t and the result are this rank's
    /// elements, and sum to 1 over all.
    /// @param t  n numbers, none negative, not all 0; made to sum to 1. Empty: the same for all.
    /// Throws argument_error where t or an option is wrong. Not converging is a value.
    [[nodiscard]] pagerank_options::result<V> rank(const pagerank_options& = {},
                                                   std::span<const V> t = {}) const;

    [[nodiscard]] const linear_operator<V, B>& product() const { return *product_; }
    [[nodiscard]] std::int64_t dangling() const;  ///< nodes without links, on all ranks
    /// Links that leave each node of this rank.
    [[nodiscard]] std::span<const index> links() const { return links_; }

  private:
    B on_;
    std::unique_ptr<linear_operator<V, B>> product_;
    host_vector<index> links_;
    vector<index, B> links_on_backend_;
    std::int64_t nodes_ = 0;  ///< on all ranks
};

/// The same for ranking once.
template <class V, class B>
pagerank_options::result<V> pagerank(B on, const csr<V, host_view>& G,
                                     pagerank_options::links direction,
                                     const pagerank_options& options = {},
                                     std::span<const V> t = {}) {
    return pagerank_graph<V, B>(on, G, direction).rank(options, t);
}

template <class V>
pagerank_options::result<V> pagerank(gpu on, const csr<V, device_view>& G,
                                     pagerank_options::links direction,
                                     const pagerank_options& options = {},
                                     std::span<const V> t = {}) {
    return pagerank_graph<V, gpu>(on, G, direction).rank(options, t);
}

}  // namespace nz
