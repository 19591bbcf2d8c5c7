// PageRank of a graph whose nodes are shared out over ranks.
#include <algorithm>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/entries.hpp"
#include "nonzero/graph/pagerank.hpp"

namespace nz {
namespace {

template <class V>
host_vector<index> row_lengths(const csr<V, host>& A) {
    host_vector<index> lengths(std::size_t(A.shape.rows));
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = index(A.row_ptr[i + 1] - A.row_ptr[i]);
    return lengths;
}

template <class V, class B>
pagerank_graph<V, B> shared(B on, matrix_slice<V> G, pagerank_options::links direction) {
    if (on.ranks == nullptr) throw argument_error("pagerank: on.ranks is null");
    agree(on.ranks, [&] {
        const auto [rows, cols] = G.shape();
        if (rows != cols)
            throw argument_error("pagerank: the graph's matrix is " + std::to_string(rows) + " x " +
                                 std::to_string(cols) + ", expected a square one");
        G.own = canonical(std::move(G.own));
        std::ranges::fill(G.own.val, V(1));
    });
    auto T = transpose(*on.ranks, G);
    const bool along_rows = direction == pagerank_options::links::row_links_to_column;
    auto links = row_lengths(along_rows ? G.own : T.own);
    matrix_slice<V> L = along_rows ? std::move(T) : std::move(G);
    return {on, std::make_unique<distributed<V, B>>(on, std::move(L)), std::move(links)};
}

}  // namespace

template <class V, class B>
pagerank_graph<V, B>::pagerank_graph(B on, matrix_slice<V> G, pagerank_options::links direction)
    : pagerank_graph(shared(on, std::move(G), direction)) {}

#define NZ_INSTANTIATE(V, B) \
    template pagerank_graph<V, B>::pagerank_graph(B, matrix_slice<V>, pagerank_options::links);
NZ_INSTANTIATE(float, cpu)
NZ_INSTANTIATE(double, cpu)
NZ_INSTANTIATE(float, gpu)
NZ_INSTANTIATE(double, gpu)

}  // namespace nz
