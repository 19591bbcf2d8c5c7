// PageRank of a graph whose nodes are shared out over ranks.
#pragma once

#include "nonzero/dist/slice.hpp"
#include "nonzero/graph/pagerank.hpp"

namespace nz {

/// The graph of a matrix that is shared out over on.ranks, ready to be ranked by all of them: each
/// gets the ranks of its own nodes. Called by all ranks. Throws, on all of them, as
/// pagerank_graph; argument_error where on.ranks is null.
template <class V, class B>
pagerank_graph<V, B> shared_pagerank_graph(B on, matrix_slice<V> G, link_direction);

}  // namespace nz
