#include "nonzero/graph/components.hpp"

#include <algorithm>
#include <numeric>

namespace nz {
namespace {

/// Nodes of each number, in ascending order: a counting sort.
host_vector<index> nodes_by(std::span<const index> number, std::span<const index> sizes) {
    host_vector<offset> next(sizes.size() + 1, 0);
    std::partial_sum(sizes.begin(), sizes.end(), next.begin() + 1, std::plus<offset>());
    host_vector<index> nodes(number.size());
    for (std::size_t i = 0; i < number.size(); ++i)
        nodes[std::size_t(next[std::size_t(number[i])]++)] = index(i);
    return nodes;
}

}  // namespace

index components::isolated() const {
    const auto ones = std::lower_bound(sizes.begin(), sizes.end(), 1, std::greater<>());
    return index(sizes.end() - ones);
}

components components_of(const adjacency& graph) {
    validate(graph);
    const index n = graph.nodes();
    components found;
    found.of.assign(std::size_t(n), -1);
    host_vector<index> sizes, queue;
    queue.reserve(std::size_t(n));
    for (index start = 0; start < n; ++start) {
        if (found.of[std::size_t(start)] >= 0) continue;
        const auto number = index(sizes.size());
        const std::size_t first = queue.size();
        const auto reach = [&](index i) {
            found.of[std::size_t(i)] = number;
            queue.push_back(i);
        };
        reach(start);
        for (std::size_t at = first; at < queue.size(); ++at)
            for (const index j : graph.neighbours(queue[at]))
                if (found.of[std::size_t(j)] < 0) reach(j);
        sizes.push_back(index(queue.size() - first));
    }
    host_vector<index> order(sizes.size()), place(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](index a, index b) {
        return sizes[std::size_t(a)] > sizes[std::size_t(b)];
    });
    for (std::size_t c = 0; c < order.size(); ++c) {
        place[std::size_t(order[c])] = index(c);
        found.sizes.push_back(sizes[std::size_t(order[c])]);
    }
    for (index& c : found.of) c = place[std::size_t(c)];
    found.nodes = nodes_by(found.of, found.sizes);
    return found;
}

adjacency subgraph(const adjacency& graph, std::span<const index> nodes) {
    host_vector<index> place;
    place.assign(std::size_t(std::max(graph.nodes(), 0)), -1);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        if (nodes[k] < 0 || nodes[k] >= graph.nodes() || (k > 0 && nodes[k] <= nodes[k - 1]))
            throw argument_error("subgraph: node " + std::to_string(nodes[k]) +
                                 " is not the graph's, or does not ascend");
        place[std::size_t(nodes[k])] = index(k);
    }
    adjacency part;
    part.first.assign(nodes.size() + 1, 0);
    for (std::size_t k = 0; k < nodes.size(); ++k) {
        for (const index j : graph.neighbours(nodes[k]))
            if (place[std::size_t(j)] >= 0) part.targets.push_back(place[std::size_t(j)]);
        part.first[k + 1] = offset(part.targets.size());
    }
    return part;
}

}  // namespace nz
