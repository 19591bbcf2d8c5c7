// nz partition: a graph in parts of equal size, nearly, between which few edges run.
#include "nonzero/graph/partition.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include "cli/command.hpp"
#include "cli/node_values.hpp"
#include "cli/progress.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/graph/metis.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {
namespace {

struct partition_arguments : run_options {
    std::string matrix, to, method = "auto", preconditioner = "amg";
    partition_options cutting;
};

struct partition_outcome {
    partition_result parts;
    index nodes = 0;
    offset edges = 0;
    double random_cut = 0, partition_s = 0;
    std::string where;
};

const char* name_of(partition_method m) {
    return m == partition_method::metis ? "metis" : "spectral";
}

nz::json to_json(const spectral_report& s, const partition_arguments& o) {
    return {{"searches", s.searches},   {"connectivity", s.connectivity},
            {"residual", s.residual},   {"tol", o.cutting.fiedler.tol},
            {"converged", s.converged}, {"why", s.why},
            {"products", s.products},   {"preconditioner", o.preconditioner}};
}

nz::json to_json(const partition_arguments& o, const partition_outcome& all) {
    const partition_result& r = all.parts;
    nz::json compared = nz::json::array();
    for (const auto& c : r.candidates)
        compared.push_back(
            {{"name", c.name}, {"cut", c.cut}, {"heaviest", c.heaviest}, {"refined", c.refined}});
    nz::json j = provenance("partition", o.on_gpu());
    j.update({{"matrix", matrix_name(o.matrix)},
              {"nodes", all.nodes},
              {"edges", all.edges},
              {"components", r.components},
              {"isolated", r.isolated},
              {"largest_component", r.largest},
              {"method", name_of(r.method)},
              {"device", o.device},
              {"where", all.where},
              {"parts", o.cutting.parts},
              {"allowed_imbalance", o.cutting.imbalance},
              {"imbalance", r.imbalance},
              {"sizes", r.sizes},
              {"cut", r.cut},
              {"random_cut", all.random_cut},
              {"winner", r.winner},
              {"candidates", compared},
              {"partition_s", all.partition_s}});
    if (r.search.searches > 0) j["search"] = to_json(r.search, o);
    return j;
}

std::string text_of_sizes(const host_vector<index>& sizes) {
    if (sizes.size() == 1) return fmt::format("1, {} nodes", sizes[0]);
    const auto [least, most] = std::minmax_element(sizes.begin(), sizes.end());
    if (sizes.size() == 2) return fmt::format("{} and {} nodes", sizes[0], sizes[1]);
    return fmt::format("{}, of {} to {} nodes", sizes.size(), *least, *most);
}

void print(const spectral_report& s, const partition_arguments& o) {
    fmt::print("connectivity  {:.6g} of the component cut first\n", s.connectivity);
    fmt::print("search        {} Fiedler vectors, {} products, preconditioner {}\n", s.searches,
               s.products, o.preconditioner);
    fmt::print("converged     {}, |L v - lambda v| / lambda = {}, allowed {}\n",
               s.converged ? "yes" : "no: " + s.why, text_of_number(s.residual),
               text_of_number(o.cutting.fiedler.tol));
}

void print(const partition_arguments& o, const partition_outcome& all) {
    const partition_result& r = all.parts;
    fmt::print("graph         {} nodes, {} edges\n", all.nodes, all.edges);
    fmt::print("components    {}: {} isolated nodes, {} nodes in the largest\n", r.components,
               r.isolated, r.largest);
    fmt::print("parts         {}; the heaviest {:.2f} % above the mean\n", text_of_sizes(r.sizes),
               100 * r.imbalance);
    fmt::print("cut           {} edges, by {}; a random cut: {}\n", r.cut, r.winner,
               text_of_number(all.random_cut));
    fmt::print("method        {}, {}, {}\n", name_of(r.method), text_of_time(all.partition_s),
               all.where);
    if (r.search.searches > 0) print(r.search, o);
    if (r.winner == "components") return;
    fmt::print("\n");
    table t({{"compared", false}, {"edges cut"}, {"heaviest part"}, {"refined"}});
    for (const auto& c : r.candidates)
        t.add_row({c.name, fmt::format("{}", c.cut), fmt::format("{}", c.heaviest),
                   fmt::format("{}", c.refined)});
    t.print();
}

struct named_graph {
    adjacency edges;
    node_names names;
};

template <class V>
named_graph read_graph(const partition_arguments& o) {
    auto [A, names] = read_named_matrix<V>(o.matrix, o.threads);
    return {adjacency_of(view(A)), std::move(names)};
}

void set_choices(partition_arguments& o) {
    using enum fiedler_preconditioner;
    o.cutting.fiedler.preconditioner = o.preconditioner == "amg"      ? amg
                                       : o.preconditioner == "jacobi" ? jacobi
                                                                      : none;
    o.cutting.method = o.method == "metis"      ? partition_method::metis
                       : o.method == "spectral" ? partition_method::spectral
                                                : partition_method::automatic;
    if (o.method == "metis" && o.cutting.with_metis && !why_no_metis().empty())
        throw unavailable(why_no_metis());
}

int partition(partition_arguments o) {
    check_device(o);
    set_choices(o);
    json_file json(o.json);
    expect_writable(o.to, node_file_endings);
    expect_one_to_stdout({o.to, o.json});
    const bool is_real = inspect(o.matrix).field != field::complex;
    const auto [graph, names] =
        is_real ? read_graph<double>(o) : read_graph<std::complex<double>>(o);
    partition_outcome all;
    all.nodes = graph.nodes(), all.edges = graph.edges();
    const auto start = std::chrono::steady_clock::now();
    std::optional<running_clock> clock(std::in_place, "partitioning " + matrix_name(o.matrix));
    if (o.on_gpu()) {
        const gpu_stream stream;
        all.parts = nz::partition<gpu>(stream, graph, o.cutting);
        all.where = describe_gpu(stream).name;
    } else {
        all.parts = nz::partition(cpu{o.threads}, graph, o.cutting);
        all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    }
    clock.reset();
    all.partition_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    all.random_cut = expected_random_cut(graph, o.cutting.parts);
    const auto fault =
        fault_of([&, &names = names] { write_node_values<index>(o.to, names, all.parts.part); });
    json.write(to_json(o, all));
    if (!json.is_stdout() && o.to != "-") print(o, all);
    throw_if(fault);
    return all.parts.search.converged ? done : answer_is_no;
}

}  // namespace

void add_partition(const command& nz) {
    const auto sub =
        nz.add_subcommand("partition", "A graph in equal parts, few edges between them");
    sub.footer(
        "Parts of the graph of A + A^T. Connected components that fit are packed whole; else METIS "
        "(auto:\n"
        "where it is installed) or recursive spectral bisection cuts, and the best of that, of "
        "METIS, of\n"
        "reverse Cuthill-McKee's order and of the nodes' own order is kept.\n"
        "1 is returned where a Fiedler vector did not converge; the parts are good all the "
        "same.\n\n"
        "Example: nz partition A.mtx --parts 8 -o parts.mtx");
    const auto o = std::make_shared<partition_arguments>();
    sub.add_option("matrix", o->matrix, matrix_help()).required();
    sub.add_option("-o,--output", o->to,
                   "file for the parts, 0 to k - 1: .tsv with the nodes' names, .mtx or .mtx.gz "
                   "without; - for stdout")
        .type_name("FILE");
    sub.add_option("-k,--parts", o->cutting.parts, "number of parts")
        .number<int>({.least = 1})
        .shows_default();
    sub.add_option("--method", o->method, "method of partitioning")
        .one_of({"auto", "metis", "spectral"})
        .shows_default();
    sub.add_flag("!--without-metis", o->cutting.with_metis, "do as where METIS is not installed");
    sub.add_option("--imbalance", o->cutting.imbalance,
                   "largest excess of a part over the mean: the heaviest over the mean, less 1")
        .number<double>({.least = 0})
        .shows_default();
    sub.add_option("--tol", o->cutting.fiedler.tol,
                   "spectral: tolerance of |L v - lambda v| / lambda of each Fiedler vector")
        .number<double>({.least = 0})
        .shows_default();
    sub.add_option("--max-products", o->cutting.fiedler.max_products,
                   "spectral: largest number of products for each Fiedler vector")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("--precond", o->preconditioner, "spectral: preconditioner of the search")
        .one_of({"amg", "jacobi", "none"})
        .shows_default();
    add_run_options(sub, *o);
    sub.does([o] { return partition(*o); });
}

}  // namespace nz::cli
