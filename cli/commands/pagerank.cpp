// nz pagerank: the nodes of a graph that a random walk comes to most often.
#include "nonzero/graph/pagerank.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <optional>

#include "cli/command.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "cli/node_values.hpp"
#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/graph/pagerank.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::cli {
namespace {

struct pagerank_arguments : run_options {
    std::string graph, teleport, to, type = "double", direction = "row-links-to-column";
    pagerank_options ranking;
    std::size_t top = 20;
    bool time = false, share_gpu = false;

    [[nodiscard]] pagerank_options::links how() const {
        return direction == "row-links-to-column" ? pagerank_options::links::row_links_to_column
                                                  : pagerank_options::links::column_links_to_row;
    }
};

/// Results that are shown and written in the end.
struct pagerank_outcome {
    pagerank_options::report report;
    std::vector<std::size_t> best;  ///< nodes, highest rank first
    std::vector<std::string> name;  ///< of those nodes
    std::vector<double> rank;       ///< ranks of those nodes
    std::vector<index> links;       ///< links that leave those nodes
    std::int64_t nodes = 0, entries = 0, dangling = 0;
    std::string product, where;
    double plan_s = 0, rank_s = 0, product_s = 0;
    std::exception_ptr fault = nullptr;  ///< why the ranks could not be written
};

/// The nodes of the highest ranks; of equal ones that of the lower number first.
template <class V>
std::vector<std::size_t> best_of(const host_vector<V>& rank, std::size_t top) {
    std::vector<std::size_t> nodes(rank.size());
    std::iota(nodes.begin(), nodes.end(), 0U);
    top = std::min(top, nodes.size());
    std::partial_sort(nodes.begin(), nodes.begin() + std::ptrdiff_t(top), nodes.end(),
                      [&](std::size_t a, std::size_t b) {
                          return rank[a] > rank[b] || (rank[a] == rank[b] && a < b);
                      });
    nodes.resize(top);
    return nodes;
}

/// Seconds of a product alone, one after the other.
template <class V, class B>
double time_product(B on, const linear_operator<V, B>& op) {
    const auto n = std::size_t(op.shape().rows);
    const auto x = from_host(on, std::span<const V>(host_vector<V>(n, V(1) / V(n))));
    auto y = from_host(on, std::span<const V>(host_vector<V>(n, V(0))));
    if constexpr (std::is_same_v<B, cpu>) {
        const std::function<void()> run = [&] { op.apply(V(1), x, V(0), y); };
        return time_interleaved(std::span(&run, 1))[0].median_s;
    } else {
        const timed_runs run = [&](std::int64_t runs) {
            gpu_event first, last;
            first.record(on);
            for (std::int64_t k = 0; k < runs; ++k) op.apply(V(1), x, V(0), y);
            last.record(on);
            return last.seconds_since(first);
        };
        return time_interleaved(std::span(&run, 1))[0].median_s;
    }
}

/// Shows its progress; Ctrl-C ends it with the ranks of the last iteration.
template <class V, class B>
pagerank_options::result<V> watched_rank(const pagerank_graph<V, B>& graph,
                                         pagerank_options ranking, const host_vector<V>& t) {
    const interruption stop;
    ranking.monitor = progress_line(ranking.tol, "change");
    return graph.rank(ranking, t);
}

template <class V, class B>
pagerank_outcome rank_on(B on, const pagerank_arguments& o) {
    const auto [G, names] = read_named_matrix<V>(o.graph, o.threads);
    const auto t = o.teleport.empty() ? host_vector<V>() : read_vector<V>(o.teleport);
    pagerank_outcome all;
    std::optional<running_clock> clock(std::in_place, "planning the product with " + o.graph);
    auto start = std::chrono::steady_clock::now();
    const pagerank_graph<V, B> graph(on, view(G), o.how());
    all.plan_s = seconds_since(start);
    clock.reset();
    start = std::chrono::steady_clock::now();
    auto [rank, report] = watched_rank(graph, o.ranking, t);
    all.rank_s = seconds_since(start);
    if (o.time) all.product_s = time_product<V, B>(on, graph.product());
    all.fault =
        fault_of([&, &names = names, &rank = rank] { write_node_values<V>(o.to, names, rank); });
    all.report = std::move(report);
    all.best = best_of(rank, o.top);
    for (const std::size_t i : all.best) {
        all.name.push_back(names.of(index(i)));
        all.rank.push_back(double(rank[i]));
        all.links.push_back(graph.links()[i]);
    }
    all.nodes = G.shape.rows, all.entries = std::int64_t(G.val.size());
    all.dangling = graph.dangling();
    all.product = graph.product().method_name();
    return all;
}

/// The same over several processes, each with its own nodes. Rank 0 has the ranks of all.
template <class V, class B>
pagerank_outcome rank_on_ranks(const communicator& ranks, const pagerank_arguments& o, B on,
                               std::string where) {
    auto G = read_slice<V>(ranks, o.graph);
    const auto t =
        o.teleport.empty() ? host_vector<V>() : read_vector_slice<V>(ranks, o.teleport, G.rows);
    pagerank_outcome all;
    all.nodes = G.shape().rows;
    all.entries = std::int64_t(summed(ranks, G.own.val.size()));
    auto start = std::chrono::steady_clock::now();
    const auto graph = pagerank_graph<V, B>(on, std::move(G), o.how());
    all.plan_s = seconds_since(start);
    start = std::chrono::steady_clock::now();
    auto [own, report] = graph.rank(o.ranking, t);
    all.rank_s = seconds_since(start);
    all.report = std::move(report);
    all.dangling = graph.dangling();
    all.product = "shared out";
    all.where = std::move(where);
    const auto rank = joined<V>(ranks, own);
    const auto links = joined<index>(ranks, graph.links());
    if (ranks.rank() != 0) return all;
    const node_names numbers;
    all.fault = fault_of([&] { write_node_values<V>(o.to, numbers, rank); });
    all.best = best_of(rank, o.top);
    for (const std::size_t i : all.best) {
        all.name.push_back(numbers.of(index(i)));
        all.rank.push_back(double(rank[i])), all.links.push_back(links[i]);
    }
    return all;
}

template <class V>
pagerank_outcome rank_on_ranks(const communicator& ranks, const pagerank_arguments& o) {
    if (o.on_gpu()) {
        const gpu_rank mine(ranks, o.share_gpu);
        return rank_on_ranks<V, gpu>(ranks, o, mine, place_of(ranks, mine));
    }
    const cpu on{.threads = std::max(o.threads, 1), .ranks = &ranks};
    return rank_on_ranks<V, cpu>(ranks, o, on, place_of(ranks, on));
}

nz::json to_json(const pagerank_arguments& o, const pagerank_outcome& all) {
    nz::json top = nz::json::array();
    for (std::size_t k = 0; k < all.best.size(); ++k)
        top.push_back({{"node", all.best[k]},
                       {"name", all.name[k]},
                       {"rank", all.rank[k]},
                       {"links", all.links[k]}});
    nz::json j = provenance("pagerank", o.on_gpu());
    j.update({{"graph", matrix_name(o.graph)},
              {"nodes", all.nodes},
              {"links", all.entries},
              {"dangling", all.dangling},
              {"direction", o.direction},
              {"type", o.type},
              {"device", o.device},
              {"where", all.where},
              {"product", all.product},
              {"damping", o.ranking.damping},
              {"tol", o.ranking.tol},
              {"converged", all.report.converged},
              {"iterations", all.report.iterations},
              {"change", all.report.change},
              {"plan_s", all.plan_s},
              {"rank_s", all.rank_s},
              {"iteration_s", all.report.iteration_s()},
              {"in_graph", all.report.in_graph},
              {"history", all.report.history},
              {"top", top}});
    if (o.time) j["product_s"] = all.product_s;
    return j;
}

void print(const pagerank_arguments& o, const pagerank_outcome& all) {
    const pagerank_options::report& r = all.report;
    table t({{"place"}, {"node"}, {"rank"}, {"links"}, {"", false, true}});
    for (std::size_t k = 0; k < all.best.size(); ++k)
        t.add_row({fmt::format("{}", k + 1), all.name[k], fmt::format("{:.6e}", all.rank[k]),
                   fmt::format("{}", all.links[k]), bar(all.rank[k] / all.rank[0], 24)});
    t.print();
    fmt::print("\ngraph       {} nodes, {} links, {} nodes without\n", all.nodes, all.entries,
               all.dangling);
    fmt::print("product     {}, {}{}\n", all.product, all.where,
               r.in_graph ? ", iterations as a graph" : "");
    fmt::print("setup       {} plan, {} ranking\n", text_of_time(all.plan_s),
               text_of_time(r.setup_s));
    fmt::print("iterations  {}, {} each{}\n", r.iterations, text_of_time(r.iteration_s()),
               o.time ? fmt::format(", {} the product alone", text_of_time(all.product_s)) : "");
    fmt::print(
        "converged   {}: last change of the ranks {},\n"
        "            error at most {}\n",
        r.converged ? "yes" : "no", text_of_number(r.change),
        text_of_number(r.error_bound(o.ranking.damping)));
}

template <class V>
int rank(const pagerank_arguments& o) {
    const communicator* const ranks = ranks_of_this_run();
    std::unique_ptr<json_file> json;
    agree(ranks, [&] {
        if (ranks != nullptr && o.time) throw unavailable("--time: for one process only");
        check_device(o);
        if (!is_speaker()) return;
        json = std::make_unique<json_file>(o.json);
        expect_writable(o.to, node_file_endings);
        expect_one_to_stdout({o.to, o.json});
    });
    pagerank_outcome all;
    if (ranks != nullptr) {
        all = rank_on_ranks<V>(*ranks, o);
    } else if (o.on_gpu()) {
        const gpu_stream stream;
        all = rank_on<V, gpu>(stream, o);
        all.where = describe_gpu(stream).name;
    } else {
        all = rank_on<V, cpu>(cpu{o.threads}, o);
        all.where = fmt::format("{} threads", thread_count(cpu{o.threads}));
    }
    if (!is_speaker()) return all.report.converged ? done : answer_is_no;
    json->write(to_json(o, all));
    if (!json->is_stdout() && o.to != "-") print(o, all);
    throw_if(all.fault);
    if (interruption::happened()) return interrupted_exit;
    return all.report.converged ? done : answer_is_no;
}

}  // namespace

void add_pagerank(const command& nz) {
    const auto sub = nz.add_subcommand("pagerank", "The nodes of a graph that matter, by PageRank");
    sub.footer(
        "Every entry is a link, whatever its value. Nodes have the\n"
        "names or numbers of an edge list, and are numbered from 0 in other files.\n\n"
        "Example: nz pagerank web-Google.txt.gz --top 10");
    const auto o = std::make_shared<pagerank_arguments>();
    sub.add_option("graph", o->graph, matrix_help()).required();
    sub.add_option("--top", o->top, "number of nodes shown")
        .number<std::uint64_t>()
        .shows_default();
    sub.add_option("--direction", o->direction, "meaning of an entry")
        .one_of({"row-links-to-column", "column-links-to-row"})
        .shows_default();
    sub.add_option("--damping", o->ranking.damping, "probability of following a link")
        .number<double>({0, 1, true})
        .shows_default();
    sub.add_option("--teleport", o->teleport,
                   "Matrix Market vector: where else a walk goes on (default: anywhere)")
        .type_name("FILE");
    sub.add_option("--tol", o->ranking.tol,
                   "tolerance of the change in an iteration, sum of |r' - r|")
        .number<double>({.least = 0})
        .shows_default();
    sub.add_option("--max-iter", o->ranking.max_iter, "largest number of iterations")
        .number<std::int64_t>({.least = 0})
        .shows_default();
    sub.add_option("-o,--output", o->to,
                   "file for all ranks: .tsv with names, .mtx or .mtx.gz without; - for stdout")
        .type_name("FILE");
    sub.add_option("--type", o->type, "type of the ranks")
        .one_of({"float", "double"})
        .shows_default();
    sub.add_flag("--time", o->time, "also time the product alone");
    add_run_options(sub, *o);
    add_share_gpu(sub, o->share_gpu);
    add_wide_option(sub);
    sub.does([o] { return o->type == "float" ? rank<float>(*o) : rank<double>(*o); });
}

}  // namespace nz::cli
