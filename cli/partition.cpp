// nz partition: a graph in two halves, between which few edges run.
#include "nonzero/solve/partition.hpp"

#include <fmt/format.h>

#include <chrono>
#include <nlohmann/json.hpp>

#include "cli/command.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

struct options : run_options {
    std::string matrix, to, preconditioner = "amg";
    bisection_options cutting;
};

struct outcome {
    bisection halves;
    index nodes = 0;
    offset edges = 0;
    double random_cut = 0, bisect_s = 0;
    std::string where;
};

nlohmann::json to_json(const options& o, const outcome& all) {
    const bisection& b = all.halves;
    nlohmann::json j = provenance("partition");
    j.update({{"matrix", matrix_name(o.matrix)},
              {"nodes", all.nodes},
              {"edges", all.edges},
              {"preconditioner", o.preconditioner},
              {"device", o.device},
              {"where", all.where},
              {"cut", b.cut},
              {"random_cut", all.random_cut},
              {"sizes", {b.sizes[0], b.sizes[1]}},
              {"connectivity", b.connectivity},
              {"tol", o.cutting.tol},
              {"converged", b.search.converged},
              {"why", b.search.why},
              {"products", b.search.products},
              {"bisect_s", all.bisect_s}});
    return j;
}

void print(const options& o, const outcome& all) {
    const bisection& b = all.halves;
    fmt::print("graph         {} nodes, {} edges\n", all.nodes, all.edges);
    fmt::print("parts         {} and {} nodes\n", b.sizes[0], b.sizes[1]);
    fmt::print("cut           {} edges; a random cut into halves: {:.0f}\n", b.cut, all.random_cut);
    fmt::print("connectivity  {:.6g}\n", b.connectivity);
    fmt::print("search        {} products, preconditioner {}, {:.3g} ms, {}\n", b.search.products,
               o.preconditioner, all.bisect_s * 1e3, all.where);
    fmt::print("converged     {}\n", b.search.converged ? fmt::format("yes, to {:g}", o.cutting.tol)
                                                        : "no: " + b.search.why);
}

template <class V>
adjacency read_graph(const options& o) {
    return adjacency_of(view(read_matrix<V>(o.matrix, o.threads)));
}

int partition(options o) {
    check_device(o);
    using enum partition_preconditioner;
    o.cutting.preconditioner = o.preconditioner == "amg"      ? amg
                               : o.preconditioner == "jacobi" ? jacobi
                                                              : none;
    json_file json(o.json);
    const bool is_real = inspect(o.matrix).field != field::complex;
    const adjacency graph = is_real ? read_graph<double>(o) : read_graph<std::complex<double>>(o);
    outcome all;
    all.nodes = graph.nodes(), all.edges = graph.edges();
    all.random_cut = expected_random_cut(graph);
    const auto start = std::chrono::steady_clock::now();
    if (o.on_gpu()) {
        const gpu_stream stream;
        all.halves = bisect<gpu>(stream, graph, o.cutting);
        all.where = describe_gpu(stream).name;
    } else {
        all.halves = bisect(cpu{o.threads}, graph, o.cutting);
        all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    }
    all.bisect_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    const auto& part = all.halves.part;
    if (!o.to.empty()) write_vector<double>(o.to, host_vector<double>(part.begin(), part.end()));
    json.write(to_json(o, all));
    if (!json.is_stdout()) print(o, all);
    return all.halves.search.converged ? done : answer_is_no;
}

}  // namespace

void add_partition(CLI::App& app, action& chosen) {
    auto* sub = app.add_subcommand("partition", "A graph in two halves, few edges between them");
    sub->footer(
        "Spectral bisection: at the median of the Fiedler vector of the graph of A + A^T.\n"
        "Example: nz partition A.mtx -o parts.mtx");
    const auto o = std::make_shared<options>();
    sub->add_option("matrix", o->matrix, "Matrix Market or .npz file; its values do not count")
        ->required();
    sub->add_option("-o,--output", o->to, "where the parts go: .mtx, 0 or 1 for every node");
    sub->add_option("--tol", o->cutting.tol, "of the Fiedler vector")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    sub->add_option("--max-products", o->cutting.max_products, "at most")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    sub->add_option("--precond", o->preconditioner, "of the search")
        ->check(CLI::IsMember({"amg", "jacobi", "none"}))
        ->capture_default_str();
    add_run_options(*sub, *o);
    sub->callback([&chosen, o] { chosen = [o] { return partition(*o); }; });
}

}  // namespace nz::cli
