// The one fused vector kernel of PageRank, for both backends.
#pragma once

#include "nonzero/solve/krylov/loop.hpp"

namespace nz {

/// The loop's residual2 and target2 are the L1 change and its tolerance: nothing is squared here.
struct pagerank_state : loop_state {
    double dangling = 0;  ///< the sum of the ranks of nodes without links
};

/// r = damping q + (1 - damping + damping dangling) t. What is kept of r is x: r over the node's
/// number of links, or r itself where it has none, as no product reads x there.
template <class V>
struct pagerank_step {
    using scalars = pagerank_state;
    using totals = sums<double, 2>;
    /// Two blocks for each multiprocessor of an H200, which leave the product's blocks room to
    /// start while the sums come in: 1.7 us less on NotreDame_www (docs/experiments/pagerank.md).
    static constexpr fused_grid grid{512, 264};
    V damping;
    V uniform;           ///< t_i where there is no vector t
    const V* t;          ///< null: uniform
    const index* links;  ///< number of links that leave each node
    const V* q;
    V* x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        const index out = links[i];
        const V parts = out > 0 ? V(out) : V(1), teleported = t != nullptr ? t[i] : uniform;
        const V jump = (V(1) - damping) + damping * V(s.dangling);
        const V before = x[i] * parts, r = damping * q[i] + jump * teleported;
        x[i] = r / parts;
        const double change = double(r) - double(before);
        return {{change < 0 ? -change : change, out > 0 ? 0 : double(r)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& of) const {
        s.dangling = of[1];
        s.end_iteration(of[0]);
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

}  // namespace nz
