// nz bench: every method on every matrix, set up, timed, checked.
#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "cli/command.hpp"
#include "cli/commands/bench_input.hpp"
#include "cli/commands/bench_ranks.hpp"
#include "cli/commands/planned_method.hpp"
#include "cli/conditions/quiet.hpp"
#include "cli/interruption.hpp"
#include "cli/peer_methods.hpp"
#include "cli/progress.hpp"
#include "cli/ranks.hpp"
#include "cli/read_matrix.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/text/numbers.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz::cli {
namespace {

struct bench_arguments {
    std::vector<std::string> paths;
    std::string methods = "all", threads, type = "double", device = "cpu", json;
    double seconds = measure_options{}.seconds;
    bool peers = false, cold = false, graph = false, chain = false, plan = false;
    bool transpose = false, ranks_table = false, share_gpu = false;
    index vectors = 1;
    std::string order = "column";
    input_options input;

    [[nodiscard]] bool on_gpu() const { return device == "gpu"; }
    [[nodiscard]] caches found() const { return cold ? caches::cold : caches::hot; }
    [[nodiscard]] launches how() const {
        if (graph) return launches::graph;
        return chain ? launches::chain : launches::stream;
    }
    [[nodiscard]] product_kind product() const {
        return {transpose ? transposition::transpose : transposition::plain, vectors,
                order == "row" ? storage_order::row_major : storage_order::column_major};
    }
};

template <class V>
bool runs_on_device(const method<V>& m, const bench_arguments& o) {
    return o.on_gpu() ? m.on_gpu != nullptr : m.on_cpu != nullptr;
}

/// The methods that a list such as "csr.serial,hll.*" names; "all" names all. Throws
/// argument_error for a name, and for a layout, that no method has.
template <class V>
std::vector<const method<V>*> choose_methods(const bench_arguments& o) {
    std::vector<const method<V>*> chosen;
    const auto add = [&](const method<V>& m) {
        if (std::find(chosen.begin(), chosen.end(), &m) == chosen.end()) chosen.push_back(&m);
    };
    std::string rest = o.methods;
    do {
        const std::string name = rest.substr(0, rest.find(','));
        rest.erase(0, name.size() + 1);
        const bool all = name == "all", layout = name.ends_with(".*");
        const std::size_t before = chosen.size();
        for (const method<V>& m : nz::methods<V>())
            if (runs_on_device(m, o) && (all || (layout && name == std::string(m.layout()) + ".*")))
                add(m);
        if (layout && chosen.size() == before)
            throw argument_error("no method '" + name + "'; `nz methods` lists them");
        if (!all && !layout) add(find_method<V>(name));
    } while (!rest.empty());
    return chosen;
}

template <class V>
std::vector<benchmark_case<V>> cases_of(const bench_arguments& o, std::span<const int> threads) {
    const auto those = [&](std::span<const method<V>* const> methods, bool peers) {
        return o.on_gpu() ? make_gpu_cases<V>(methods, peers)
                          : make_cases<V>(methods, threads, peers);
    };
    auto all = those(choose_methods<V>(o), false);
    if (o.plan) {
        const method<V>* const planned[] = {o.transpose     ? &planned_method<V, true, false>()
                                            : o.vectors > 1 ? &planned_method<V, false, true>()
                                                            : &planned_method<V, false, false>()};
        for (const auto& c : those(planned, false)) all.push_back(c);
    }
    if (!o.peers) return all;
    if (peer_methods<V>().empty())
        throw unavailable("--peers: this build has none; configure it with -DNONZERO_PEERS=ON");
    std::vector<const method<V>*> peers;
    for (const method<V>& m : peer_methods<V>())
        if (runs_on_device(m, o)) peers.push_back(&m);
    for (const auto& c : those(peers, true)) all.push_back(c);
    return all;
}

/// Measured bandwidth by number of threads; 0 is the GPU.
using bandwidths = std::map<int, bandwidth>;

double share_of_read(const benchmark_result& t, const bandwidths& machine) {
    return t.gbps() / machine.at(t.threads).read_gbps;
}

struct entry {
    std::string matrix;
    double flops;
    benchmark_result t;
    [[nodiscard]] double gflops() const { return flops / t.time.median_s * 1e-9; }
};

nz::json to_json(const entry& e, const bandwidths& machine) {
    const benchmark_result& t = e.t;
    const bool on_gpu = t.threads == 0;
    nz::json j = {{"matrix", e.matrix},
                  {"method", t.method},
                  {"backend", on_gpu ? "gpu" : "cpu"},
                  {"threads", t.threads},
                  {"peer", t.peer}};
    if (!t.declined.empty()) j["declined"] = t.declined;
    if (t.method == planned_name) j["chosen"] = t.built;
    if (!t.measured()) return j;
    j.update({{"setup_s", t.setup_s},
              {"setup_products", t.setup_products()},
              {"median_s", t.time.median_s},
              {"min_s", t.time.min_s},
              {"spread", t.time.spread},
              {"repeats_per_block", t.time.repeats_per_block},
              {"block_s", t.time.block_s},
              {"gflops", e.gflops()},
              {"matrix_bytes", t.matrix_bytes},
              {"vector_bytes", t.vector_bytes},
              {"gbps", t.gbps()},
              {"share_of_read_bandwidth", share_of_read(t, machine)},
              {"error_bounds", t.error.worst},
              {"error_l2", t.error.l2},
              {"validated", t.validated()}});
    if (t.rewriting_s > 0) j["rewriting_s"] = t.rewriting_s;
    if (on_gpu)
        j.update({{"conversion_s", t.setup.conversion_s},
                  {"upload_s", t.setup.upload_s},
                  {"preprocessing_s", t.setup.preprocessing_s}});
    return j;
}

std::string ms(double s) { return fmt::format("{:.2f}", s * 1e3); }

/// On a GPU the number of threads says nothing, but how many launches were timed together does,
/// and of what the setup consists.
void print_table(std::vector<const entry*> entries, const bandwidths& machine, bool on_gpu) {
    std::erase_if(entries, [](const entry* e) { return !e->t.measured(); });
    std::stable_sort(entries.begin(), entries.end(), [](const entry* a, const entry* b) {
        return a->t.time.median_s < b->t.time.median_s;
    });
    // Of what is checked and no doubt. It is marked, as it need not be the first.
    const auto first = std::find_if(entries.begin(), entries.end(), [](const entry* e) {
        return e->t.validated() && !is_busy(e->t);
    });
    const entry* const winner = first == entries.end() ? nullptr : *first;
    std::vector<column> columns{{"method (* fastest)", false},
                                {on_gpu ? "launches" : "threads"},
                                {"us"},
                                {"+-%"},
                                {"GFLOP/s"},
                                {"GB/s"},
                                {"% of read", true, true},
                                {"stored", true, true},
                                {"setup ms", true, true}};
    if (on_gpu)
        columns.insert(columns.end(),
                       {{"convert", true, true}, {"upload", true, true}, {"prepare", true, true}});
    columns.insert(columns.end(),
                   {{"SpMVs", true, true}, {"error/bound", true, true}, {"error l2", true, true}});
    table t(columns);
    for (const entry* e : entries) {
        const std::int64_t how_many =
            on_gpu ? e->t.time.repeats_per_block : std::int64_t(e->t.threads);
        const bool planned = e->t.method == planned_name;
        std::string name = planned ? fmt::format("plan: {}", e->t.built) : e->t.method;
        if (e == winner) name += " *";
        std::vector<std::string> cells{
            std::move(name),
            std::to_string(how_many),
            doubtful(e->t, fmt::format("{:.1f}", e->t.time.median_s * 1e6)),
            fmt::format("{:.1f}", e->t.time.spread * 100),
            fmt::format("{:.2f}", e->gflops()),
            fmt::format("{:.1f}", e->t.gbps()),
            fmt::format("{:.0f}", share_of_read(e->t, machine) * 100),
            text_of_bytes(e->t.matrix_bytes),
            ms(e->t.setup_s)};
        if (on_gpu)
            for (const double part :
                 {e->t.setup.conversion_s, e->t.setup.upload_s, e->t.setup.preprocessing_s})
                cells.push_back(ms(part));
        cells.push_back(fmt::format("{:.1f}", e->t.setup_products()));
        cells.push_back(fmt::format("{:.2g}", e->t.error.worst));
        cells.push_back(fmt::format("{:.1e}", e->t.error.l2));
        t.add_row(std::move(cells));
    }
    t.print();
}

/// Who declined, a line each whatever the number of threads.
void print_declined(const std::vector<const entry*>& entries) {
    std::vector<std::string> said;
    for (const entry* e : entries) {
        if (e->t.declined.empty() || std::count(said.begin(), said.end(), e->t.method) > 0)
            continue;
        fmt::print("{}{}\n", said.empty() ? "\n" : "",
                   wrapped(e->t.method + " declines: " + e->t.declined, line_width(stdout), 2));
        said.push_back(e->t.method);
    }
}

/// All that was measured, also where an interruption or an error ends the measuring.
class session {
  public:
    explicit session(const bench_arguments& o)
        : o_(o), json_(o.json), cache_(last_level_cache(o.on_gpu())) {}

    void measure_machine(std::span<const int> threads) {
        for (const int t : threads)
            if (!interruption::happened() && !machine_.contains(t))
                machine_[t] = t == 0 ? known_gpu_speeds(gpu{}).memory : measure_bandwidth(t);
    }

    template <class V>
    void measure_matrix(const std::string& path, std::span<const benchmark_case<V>> cases,
                        const measure_options& how) {
        const bench_input<V> in = read_within_interruption(
            matrices_.empty(), [&] { return read_bench_input<V>(path, o_.input); });
        const csr<V, host>& A = in.A;
        const std::string& name = in.name;
        const auto nnz = std::int64_t(A.val.size());
        matrices_.push_back(to_json(in, cache_));
        const std::size_t before = entries_.size();
        std::optional<running_clock> clock(std::in_place, "timing " + name);
        for (benchmark_result& t :
             o_.on_gpu()
                 ? run_benchmark<V>(gpu{}, view(A), cases, how, o_.found(), o_.product(), o_.how())
                 : run_benchmark<V>(view(A), cases, how, o_.product()))
            entries_.push_back({name, flops<V>(nnz) * o_.vectors, std::move(t)});
        clock.reset();
        if (json_.is_stdout()) return;
        const std::string head = fmt::format(
            "{}: {} x {}, {} entries, {} distinct values, {}{}{}{}", name, A.shape.rows,
            A.shape.cols, nnz, in.distinct_values, type_option<V>(),
            in.copies > 1 ? fmt::format(", {} copies along the diagonal", in.copies) : "",
            what_product(), launched());
        fmt::print("{}{}\n\n", before == 0 ? "" : "\n", wrapped(head, line_width(stdout), 2));
        std::vector<const entry*> mine;
        for (std::size_t k = before; k < entries_.size(); ++k) mine.push_back(&entries_[k]);
        print_table(mine, machine_, o_.on_gpu());
        print_declined(mine);
        std::vector<const benchmark_result*> times;
        for (const entry* e : mine) times.push_back(&e->t);
        if (const std::string note = busy_note(times); !note.empty())
            fmt::print("\n{}\n", wrapped(note, line_width(stdout)));
        std::fflush(stdout);
    }

    void write() {
        std::vector<result_of_matrix> all;
        for (const entry& e : entries_) all.push_back({e.matrix, &e.t});
        const auto ratios = plan_ratios(all);
        if (!json_.is_stdout()) print_plan_ratios(ratios);
        nz::json j = provenance("bench", o_.on_gpu());
        if (o_.plan) j["plan"] = to_json(ratios);
        j["type"] = o_.type;
        j["values"] = o_.input.distinct ? "distinct" : "as they are";
        if (o_.input.distinct) j["seed"] = o_.input.seed;
        if (o_.input.storage != value_storage::exact) j["storage"] = name_of(o_.input.storage);
        j["baselines"] = nz::json::array();
        if (o_.peers)
            for (const auto& [name, version] : peer_libraries())
                j["baselines"].push_back({{"name", name}, {"version", version}});
        j["device"] = o_.device;
        j["transposed"] = o_.transpose;
        j["vectors"] = o_.vectors;
        if (o_.vectors > 1) j["order"] = o_.order;
        if (o_.on_gpu()) {
            j["caches"] = o_.cold ? "cold" : "hot";
            j["launches"] = o_.graph ? "graph" : o_.chain ? "chain" : "stream";
        }
        j["interrupted"] = interruption::happened();
        j["bandwidth"] = nz::json::array();
        for (const auto& [threads, b] : machine_)
            j["bandwidth"].push_back(
                {{"threads", threads}, {"read_gbps", b.read_gbps}, {"copy_gbps", b.copy_gbps}});
        j["matrices"] = matrices_;
        j["rows"] = nz::json::array();
        for (const entry& e : entries_) j["rows"].push_back(to_json(e, machine_));
        json_.write(j);
    }

  private:
    [[nodiscard]] const char* launched() const {
        if (o_.cold) return ", the L2 cache flushed before every product";
        if (o_.graph) return ", in CUDA graphs";
        return o_.chain ? ", x rewritten before every product" : "";
    }
    [[nodiscard]] std::string what_product() const {
        return (o_.transpose ? ", products with A^T" : "") +
               (o_.vectors > 1 ? fmt::format(", {} vectors at once, {}-major", o_.vectors, o_.order)
                               : "");
    }

    bench_arguments o_;
    json_file json_;
    cache_level cache_;
    bandwidths machine_;
    nz::json matrices_ = nz::json::array();
    std::vector<entry> entries_;
};

template <class V>
int run(const bench_arguments& o) {
    const std::vector<int> threads =
        o.threads.empty() ? std::vector{thread_count({})} : parse_threads(o.threads);
    const std::vector<benchmark_case<V>> cases = cases_of<V>(o, threads);
    const interruption ctrl_c;
    session s(o);
    const measure_options how{.seconds = o.seconds, .interrupted = interruption::flag()};
    std::vector<int> teams;
    for (const auto& c : cases) teams.push_back(c.threads);
    s.measure_machine(teams);
    try {
        for (const std::string& path : o.paths)
            if (!interruption::happened()) s.measure_matrix<V>(path, cases, how);
    } catch (...) {
        s.write();  // an unreadable file does not cost what was measured before it
        throw;
    }
    s.write();
    return interruption::happened() ? interrupted_exit : int(done);
}

/// The options for several processes. Throws where one is for a single process only.
ranks_bench for_ranks(const bench_arguments& o) {
    if (o.on_gpu() && o.type.starts_with('c'))
        throw unavailable("--device gpu: several processes multiply complex values on CPUs only");
    if (o.peers || o.plan || o.vectors > 1 || o.input.tile ||
        o.input.storage != value_storage::exact || o.cold || o.graph || o.chain)
        throw argument_error(
            "--peers, --plan, --vectors, --tile, --storage, --cold, --graph and --chain: for one "
            "process only");
    if (o.on_gpu() && !o.threads.empty())
        throw argument_error("--threads applies to --device cpu only");
    ranks_bench r{.paths = o.paths,
                  .type = o.type,
                  .json = o.json,
                  .seconds = o.seconds,
                  .seed = o.input.seed,
                  .on_gpu = o.on_gpu(),
                  .share_gpu = o.share_gpu,
                  .distinct = o.input.distinct,
                  .transpose = o.transpose,
                  .table = o.ranks_table};
    if (o.methods != "all")
        for (const method<double>* const m : choose_methods<double>(o))
            r.methods.emplace_back(m->name);
    const auto threads = o.threads.empty() ? std::vector{1} : parse_threads(o.threads);
    if (threads.size() > 1)
        throw argument_error("--threads: over several processes one number, of each of them");
    r.threads = threads.front();
    return r;
}

int bench(const bench_arguments& o) {
    if (const communicator* const ranks = ranks_of_this_run()) {
        ranks_bench over_ranks;
        agree(ranks, [&] { over_ranks = for_ranks(o); });
        return bench_on_ranks(over_ranks, *ranks);
    }
    if (o.ranks_table)
        throw argument_error(
            "--ranks-table: for several processes, as in `mpirun -n 4 nz bench A.mtx "
            "--ranks-table`");
    if (o.on_gpu()) {
        if (!o.threads.empty()) throw argument_error("--threads applies to --device cpu only");
        require_gpu(gpu{});
    } else if (o.cold || o.graph || o.chain) {
        throw argument_error("--cold, --graph and --chain: with --device gpu only");
    }
    check(o.input);
    if (o.transpose && o.vectors > 1)
        throw argument_error("--vectors: not with --transpose, which takes one at a time");
    return with_value_type(o.type, [&]<class V>() { return run<V>(o); });
}

}  // namespace

void add_bench(const command& nz) {
    const auto sub = nz.add_subcommand("bench", "Time methods side by side");
    sub.footer(
        "GFLOP/s counts 2 operations an entry (8 for complex values); GB/s the bytes of the\n"
        "layout, x and y, each moved once, with its share of the read bandwidth measured on as\n"
        "many threads (above 100% in cache). Error: the largest, in units of the bound that every\n"
        "product keeps, and the norm. On a GPU its own events time blocks of `launches` products;\n"
        "its bandwidth is measured once and kept (see nz machine). Ctrl-C ends the measuring: "
        "what\n"
        "was measured is printed and written, and the exit code is 130.\n"
        "Over several processes (mpirun): the product of the matrix shared out over them, each\n"
        "with its own plan among --methods. Messages: the time of a product minus that of its\n"
        "two local parts, as a share. Imbalance: the most entries of a rank over the mean.\n"
        "Peak: the most memory that a rank held, from reading on, and that over the memory of\n"
        "its rows, x and y.\n\n"
        "Example: nz bench A.mtx --methods csr.*,hll.column_guided --threads 1,2");
    const auto o = std::make_shared<bench_arguments>();
    sub.add_option("matrix", o->paths, matrix_help()).required();
    sub.add_option("--methods", o->methods,
                   "methods to time: names, layout.*, or all; comma-separated")
        .shows_default();
    sub.add_option("--threads", o->threads, "numbers of threads, as in 1,2,4 (default: all cores)");
    add_type_option(sub, o->type);
    sub.add_option("--device", o->device, "device that multiplies")
        .one_of({"cpu", "gpu"})
        .shows_default();
    const auto cold =
        sub.add_flag("--cold", o->cold, "flush a GPU's L2 cache before every product");
    const auto graph =
        sub.add_flag("--graph", o->graph, "launch a GPU's products as CUDA graphs of 20")
            .excludes(cold);
    sub.add_flag("--chain", o->chain,
                 "rewrite x by an ordinary kernel before every product on a GPU; its time is part "
                 "of every method's, and rewriting_s in the JSON")
        .excludes(cold)
        .excludes(graph);
    sub.add_option("--seconds", o->seconds, "seconds for each method, matrix and number of threads")
        .number<double>({.least = 0, .open = true})
        .shows_default();
    add_json_option(sub, o->json, "all results");
    add_wide_option(sub);
    sub.add_flag("--peers", o->peers, "time the other libraries that this build has as well");
    sub.add_option("--tile", o->input.tile,
                   "repeat each matrix along the diagonal until it has that many entries")
        .number<double>({1, 1e12});
    const auto distinct =
        sub.add_flag("--distinct", o->input.distinct,
                     "multiply every value by its own random factor: no two are equal");
    sub.add_option("--seed", o->input.seed, "seed of these factors")
        .needs(distinct)
        .number<std::uint64_t>()
        .shows_default();
    add_storage_option(sub, o->input.storage,
                       "round every value first, as a plan with this storage does");
    sub.add_flag("--transpose", o->transpose,
                 "time y = A^T x; with --plan, A^T is planned as well");
    sub.add_option("--vectors", o->vectors, "number of vectors multiplied at once")
        .number<int>({1, 1024})
        .shows_default();
    sub.add_option("--order", o->order, "storage order of several vectors: column- or row-major")
        .one_of({"column", "row"})
        .shows_default();
    sub.add_flag("--plan", o->plan,
                 "time what the planner chooses as well; a GPU plans from a CSR in its memory");
    add_share_gpu(sub, o->share_gpu);
    sub.add_flag("--ranks-table", o->ranks_table,
                 "over several processes: on 1, 2, 4, ... and all of them, with speed-up and "
                 "efficiency");
    sub.does([o] { return bench(*o); });
}

}  // namespace nz::cli
