// Who of the physicists that write together is at the centre? Ranks the nodes of a graph.
#include <algorithm>
#include <cstdio>
#include <nonzero/nonzero.hpp>
#include <numeric>

int main(int argc, char** argv) {
    if (argc != 2) return std::fprintf(stderr, "usage: pagerank G.mtx\n"), 2;
    try {
        const auto G = nz::read<double>(argv[1]);
        const nz::pagerank_graph<double, nz::cpu> graph(
            nz::cpu{}, nz::view(G), nz::pagerank_options::links::row_links_to_column);
        const auto result = graph.rank({.damping = 0.85, .tol = 1e-12});
        const auto& rank = result.rank;
        std::vector<std::size_t> nodes(rank.size());
        std::iota(nodes.begin(), nodes.end(), 0U);
        const std::size_t top = std::min<std::size_t>(nodes.size(), 5);
        std::partial_sort(nodes.begin(), nodes.begin() + std::ptrdiff_t(top), nodes.end(),
                          [&](auto a, auto b) { return rank[a] > rank[b]; });
        for (std::size_t k = 0; k < top; ++k)
            std::printf("node %zu with %d links: %.3e\n", nodes[k], graph.links()[nodes[k]],
                        rank[nodes[k]]);
        std::printf("%lld iterations by %s\n", static_cast<long long>(result.report.iterations),
                    std::string(graph.product().method_name()).c_str());
        return result.report.converged ? 0 : 1;
    } catch (const nz::error& e) {
        return std::fprintf(stderr, "%s\n", e.what()), 1;
    }
}
