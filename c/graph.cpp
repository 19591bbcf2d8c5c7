// Graphs: PageRank, partitioning.
#include "c/handles.hpp"
#include "c/options.hpp"
#include "c/report.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/graph/partition.hpp"

namespace nz::c {
namespace {

struct ranking : pagerank_options {
    int threads = 0;
    links direction = links::row_links_to_column;
};
constexpr std::string_view direction_names[] = {"row-links-to-column", "column-links-to-row"};
constexpr key<ranking> pagerank_keys[] = {
    plain<&ranking::threads, ranking>("threads"),
    named<&ranking::direction, direction_names, ranking>("direction"),
    plain<&ranking::damping, ranking>("damping"),
    plain<&ranking::tol, ranking>("tol"),
    plain<&ranking::max_iter, ranking>("max-iter"),
    plain<&ranking::graph, ranking>("graph"),
};

struct cutting : partition_options {
    int threads = 0;
};
constexpr std::string_view partition_names[] = {"auto", "metis", "spectral"};
constexpr std::string_view fiedler_names[] = {"none", "jacobi", "amg"};
constexpr key<cutting> partition_keys[] = {
    plain<&cutting::threads, cutting>("threads"),
    plain<&cutting::parts, cutting>("parts"),
    named<&cutting::method, partition_names, cutting>("method"),
    {"without-metis",
     [](cutting& o, const given& g) { take(g, o.with_metis), o.with_metis = !o.with_metis; }},
    plain<&cutting::imbalance, cutting>("imbalance"),
    {"tol", [](cutting& o, const given& g) { take(g, o.fiedler.tol); }},
    {"max-products", [](cutting& o, const given& g) { take(g, o.fiedler.max_products); }},
    {"precond",
     [](cutting& o, const given& g) {
         o.fiedler.preconditioner = fiedler_preconditioner(place_of(g, fiedler_names));
     }},
};

/// The ranks go to `to`, which has an element for each node.
template <class V, class B>
pagerank_options::report rank_nodes(B on, const csr<V, host_view>& G, const ranking& o,
                                    std::span<const V> teleport, std::span<V> to,
                                    std::string& product) {
    if constexpr (is_complex<V>) {
        throw unavailable("nz_pagerank: ranks are real");
    } else {
        if (to.size() != std::size_t(G.shape.rows))
            throw argument_error(
                fmt::format("rank has {} elements, expected {}", to.size(), G.shape.rows));
        const pagerank_graph<V, B> graph(on, G, o.direction);
        auto [rank, report] = graph.rank(o, teleport);
        std::ranges::copy(rank, to.begin());
        product = graph.product().method_name();
        return report;
    }
}

}  // namespace
}  // namespace nz::c

using namespace nz::c;

int nz_pagerank(const nz_matrix* A, int device, void* stream, int type, const void* teleport,
                int64_t teleport_length, void* rank, int64_t rank_length, const char* options,
                nz_report* report) {
    return guarded([&] {
        const nz_matrix& matrix = checked(A, "A");
        expect_report(report);
        ranking o;
        take_options<ranking>(options, pagerank_keys, o);
        expect_reachable(matrix, device);
        return with_device(device, stream, o.threads, [&](auto on) {
            return with_host_matrix(
                matrix, stream, [&]<class V>(const nz::csr<V, nz::host_view>& view) {
                    expect_type<V>(type);
                    const host_input<V> t(matrix.device, stream, teleport, teleport_length,
                                          "teleport");
                    host_output<V> to(matrix.device, stream, rank, rank_length, "rank");
                    std::string product;
                    const nz::pagerank_options::report r =
                        rank_nodes<V>(on, view, o, t, to, product);
                    to.put_back();
                    return report_to(
                        report, {.converged = r.converged,
                                 .iterations = r.iterations,
                                 .residual = r.change,
                                 .setup_s = r.setup_s,
                                 .solve_s = r.iterations_s,
                                 .status = name_of(r.converged ? nz::status::converged
                                                               : nz::status::max_iter),
                                 .method = "pagerank",
                                 .preconditioner = "none",
                                 .product = product,
                                 .why = fmt::format("the ranks changed by {:.3g} in iteration {}",
                                                    r.change, r.iterations)});
                });
        });
    });
}

int nz_partition(const nz_matrix* A, int device, void* stream, int32_t* part, int64_t part_length,
                 int64_t* cut, double* imbalance, const char* options) {
    return guarded([&] {
        const nz_matrix& matrix = checked(A, "A");
        cutting o;
        take_options<cutting>(options, partition_keys, o);
        expect_reachable(matrix, device);
        with_device(device, stream, o.threads, [&](auto on) {
            const auto to = output<std::int32_t, nz::cpu>(part, part_length, "part");
            const auto graph = with_host_matrix(
                matrix, stream, [](const auto& view) { return adjacency_of(view); });
            if (to.size() != std::size_t(graph.nodes()))
                throw nz::argument_error(
                    fmt::format("part has {} elements, expected {}", to.size(), graph.nodes()));
            const nz::partition_result r = partition(on, graph, o);
            std::ranges::copy(r.part, to.begin());
            tell(cut, r.cut), tell(imbalance, r.imbalance);
        });
        return NZ_OK;
    });
}
