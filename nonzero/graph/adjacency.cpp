#include "nonzero/graph/adjacency.hpp"

#include <algorithm>

#include "nonzero/matrix/ascending.hpp"

namespace nz {
namespace {

/// f(i, j) and f(j, i) for every entry off the diagonal.
template <class V, class F>
void for_each_link(const csr<V, host_view>& A, F f) {
    for (index i = 0; i < A.shape.rows; ++i)
        for (auto k = std::size_t(A.row_ptr[std::size_t(i)]);
             k < std::size_t(A.row_ptr[std::size_t(i) + 1]); ++k)
            if (A.col_ind[k] != i) f(i, A.col_ind[k]), f(A.col_ind[k], i);
}

}  // namespace

template <class V>
adjacency adjacency_of(const csr<V, host_view>& any_A) {
    const ascending in_order(any_A);
    const csr<V, host_view>& A = in_order.view();
    if (A.shape.rows != A.shape.cols)
        throw argument_error("adjacency: the matrix is " + std::to_string(A.shape.rows) + " x " +
                             std::to_string(A.shape.cols) + ", expected a square one");
    const auto n = std::size_t(A.shape.rows);
    host_vector<offset> next;
    next.assign(n + 1, 0);
    for_each_link(A, [&](index i, index) { ++next[std::size_t(i) + 1]; });
    for (std::size_t i = 0; i < n; ++i) next[i + 1] += next[i];
    const host_vector<offset> start = next;
    host_vector<index> twice(static_cast<std::size_t>(start[n]));
    for_each_link(A, [&](index i, index j) { twice[std::size_t(next[std::size_t(i)]++)] = j; });

    adjacency graph;
    graph.first.assign(n + 1, 0);
    const auto row = [&](std::size_t i) { return twice.begin() + start[i]; };
#pragma omp parallel for schedule(dynamic, 512)
    for (std::size_t i = 0; i < n; ++i) {
        std::sort(row(i), row(i + 1));
        graph.first[i + 1] = std::unique(row(i), row(i + 1)) - row(i);
    }
    for (std::size_t i = 0; i < n; ++i) graph.first[i + 1] += graph.first[i];
    graph.targets = host_vector<index>(std::size_t(graph.first[n]));
    for (std::size_t i = 0; i < n; ++i)
        std::copy_n(row(i), graph.first[i + 1] - graph.first[i],
                    graph.targets.begin() + graph.first[i]);
    return graph;
}

void validate(const adjacency& graph) {
    const auto fail = [](const std::string& what) { throw argument_error("adjacency: " + what); };
    if (graph.first.empty() || graph.first.front() != 0 ||
        graph.first.back() != offset(graph.targets.size()))
        fail("first does not go from 0 to the number of targets");
    if (!std::is_sorted(graph.first.begin(), graph.first.end())) fail("first descends");
    // Seen from the nodes in their order, those that have j as a neighbour are j's, in its order.
    host_vector<offset> next = graph.first;
    for (index i = 0; i < graph.nodes(); ++i) {
        index last = -1;
        for (const index j : graph.neighbours(i)) {
            const auto pair = std::to_string(i) + " and " + std::to_string(j);
            if (j <= last || j >= graph.nodes() || j == i)
                fail("nodes " + pair + ": no others, or not ascending");
            offset& at = next[std::size_t(last = j)];
            if (at == graph.first[std::size_t(j) + 1] || graph.targets[std::size_t(at++)] != i)
                fail("nodes " + pair + ": neighbours one way only");
        }
    }
}

#define NZ_INSTANTIATE(V) template adjacency adjacency_of(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
