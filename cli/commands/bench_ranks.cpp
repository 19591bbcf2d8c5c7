#include "cli/commands/bench_ranks.hpp"

#include <fmt/core.h>

#include <chrono>
#include <numeric>

#include "cli/command.hpp"
#include "cli/commands/known_system.hpp"
#include "cli/rank_memory.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/gpu/gpu_ranks.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/gen/distinct.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/plan/timing/measure.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz::cli {
namespace {

/// Work of one rank in a product.
struct rank_work {
    double entries = 0;
    double halo_entries = 0;    ///< of these, those in others' columns
    double halo_bytes = 0;      ///< elements of others that it receives
    double operator_bytes = 0;  ///< of both of its parts, as built
};

/// One matrix on so many ranks; the same on all of them.
struct result {
    std::string matrix, method, where;
    nz::shape shape = {};
    std::int64_t nnz = 0;
    timing product;      ///< from the first rank's start to the last one's end
    timing own_product;  ///< the same without messages: what the ranks multiply, and no more
    timing messages;     ///< only those of a plain product, which travel beside it
    std::vector<rank_work> work;
    memory_of_ranks memory;
    double flops = 0;
    double alone_s = 0;  ///< one rank's product; 0 where it was not measured

    [[nodiscard]] int ranks() const { return int(work.size()); }
    [[nodiscard]] double communication() const {
        return std::max(0.0, 1 - own_product.median_s / product.median_s);
    }
    [[nodiscard]] double speed_up() const { return alone_s / product.median_s; }
    [[nodiscard]] double efficiency() const { return speed_up() / ranks(); }
    [[nodiscard]] double mean(double rank_work::*what) const {
        return std::accumulate(work.begin(), work.end(), 0.0,
                               [&](double sum, const rank_work& w) { return sum + w.*what; }) /
               ranks();
    }
    [[nodiscard]] double most(double rank_work::*what) const {
        return *std::ranges::max_element(work, {}, what).*what;
    }
    [[nodiscard]] double imbalance() const {
        return nnz == 0 ? 1 : most(&rank_work::entries) / mean(&rank_work::entries);
    }
};

void finish(cpu) {}
void finish(gpu on) { synchronize(on); }

/// The least time of a block, which on a GPU ends with a wait that is no part of a product.
double block_s(cpu) { return measure_options{}.block_s; }
double block_s(gpu) { return 1e-2; }

/// Times work that all ranks do together. Every rank gets the longest rank's seconds, also as the
/// clock of the harness, so that all repeat the work as often.
template <class B>
std::vector<timing> timed_together(B on, double seconds,
                                   std::span<const std::function<void()>> work) {
    const communicator& ranks = *on.ranks;
    double passed = 0;
    std::vector<timed_runs> all;
    for (const auto& product : work)
        all.emplace_back([&](std::int64_t runs) {
            (void)on_all(&ranks, true);  // all begin at once
            const auto start = std::chrono::steady_clock::now();
            for (std::int64_t k = 0; k < runs; ++k) product();
            finish(on);
            const std::chrono::duration<double> mine = std::chrono::steady_clock::now() - start;
            const double longest = std::ranges::max(gathered(ranks, mine.count()));
            passed += longest;
            return longest;
        });
    return time_interleaved(
        all, {.seconds = seconds, .block_s = block_s(on), .now = [&] { return passed; }});
}

/// The product; the same without messages: of the own columns, and of the others' as they came
/// last; the messages alone.
template <class V, class B>
void time_products(const ranks_bench& o, B on, const distributed<V, B>& A, result& r) {
    const transposition op = o.transpose ? transposition::transpose : transposition::plain;
    const int rank = on.ranks->rank();
    const auto there = [&](const host_vector<V>& v) {
        return from_host(on, std::span<const V>(v));
    };
    const auto ones = [&](index n) { return there(host_vector<V>(std::size_t(n), V(1))); };
    const nz::shape edge = A.others() == nullptr ? nz::shape{} : A.others()->shape();
    vector<V, B> x, y, edge_rows, halo;
    agree(on.ranks, [&] {
        x = there(known_solution<V>((o.transpose ? A.rows() : A.cols()).of(rank)));
        y = ones((o.transpose ? A.cols() : A.rows()).count(rank));
        edge_rows = ones(edge.rows), halo = ones(edge.cols);
    });
    const std::function<void()> work[] = {
        [&] { A.apply_transposed(op, V(1), x, V(0), y); },
        [&] {
            A.local().apply_transposed(op, V(1), x, V(0), y);
            if (A.others() == nullptr) return;
            o.transpose ? A.others()->apply_transposed(op, V(1), edge_rows, V(0), halo)
                        : A.others()->apply(V(1), halo, V(0), edge_rows);
        },
        [&] { A.exchange(o.transpose ? in<V, B>(y) : in<V, B>(x)); }};
    auto times = timed_together(on, o.seconds, work);
    r.product = std::move(times[0]), r.own_product = std::move(times[1]);
    r.messages = std::move(times[2]);
}

/// As make_distinct of the values of all rows together.
template <class V>
void make_distinct_over(const communicator& ranks, matrix_slice<V>& A, std::uint64_t seed) {
    const auto counts = gathered(ranks, std::uint64_t(A.own.val.size()));
    const auto mine = counts.begin() + ranks.rank();
    const auto sum = [](auto from, auto to) { return std::accumulate(from, to, std::uint64_t(0)); };
    agree(&ranks, [&] {
        make_distinct<V>(A.own.val, seed, sum(counts.begin(), mine),
                         sum(counts.begin(), counts.end()));
    });
}

template <class V>
rank_work work_of(const matrix_slice<V>& A, int rank) {
    const range own = A.cols.of(rank);
    const auto is_outside = [&](index j) { return j < own.first || j >= own.last; };
    return {.entries = double(A.own.val.size()),
            .halo_entries = double(std::ranges::count_if(A.own.col_ind, is_outside))};
}

template <class V, class B>
result measure(const ranks_bench& o, const std::string& path, B on, std::string where) {
    const communicator& ranks = *on.ranks;
    memory_watch watch;
    auto slice = read_slice<V>(ranks, path);
    if (o.distinct) make_distinct_over(ranks, slice, o.seed);
    const double share = share_bytes(slice, ranks.rank());
    plan_options planning{.methods = o.methods};
    planning.transposed = o.on_gpu && o.transpose;  // few methods multiply by A^T there
    B alone = on;
    alone.ranks = nullptr;
    watch.leave_out([&] { planning = with_same_speeds(alone, ranks, planning); });
    rank_work mine = work_of(slice, ranks.rank());
    result r;
    r.matrix = matrix_name(path), r.shape = slice.shape(), r.where = std::move(where);
    r.nnz = summed(ranks, std::int64_t(slice.own.val.size()));
    r.flops = flops<V>(r.nnz);
    const distributed<V, B> A(on, std::move(slice), planning);
    r.method = A.method_name();
    time_products(o, on, A, r);
    mine.halo_bytes = double(A.exchanges().columns.size() * sizeof(V));
    mine.operator_bytes = double(A.bytes());
    r.work = gathered(ranks, mine);
    r.memory = gathered_memory(ranks, watch, share);
    return r;
}

template <class V>
result measure(const ranks_bench& o, const std::string& path, const communicator& ranks) {
    if constexpr (std::floating_point<V>) {
        if (o.on_gpu) {
            const gpu_rank mine(ranks, o.share_gpu);
            return measure<V, gpu>(o, path, mine, place_of(ranks, mine));
        }
    }
    const cpu on{.threads = o.threads, .ranks = &ranks};
    return measure<V, cpu>(o, path, on, place_of(ranks, on));
}

/// 1, 2, 4, ... and all of them; without a table all of them only.
std::vector<int> numbers_of_ranks(int all, bool table) {
    std::vector<int> numbers;
    for (int n = 1; table && n < all; n *= 2) numbers.push_back(n);
    numbers.push_back(all);
    return numbers;
}

nz::json to_json(const result& r, const ranks_bench& o) {
    const auto of_ranks = [&](double rank_work::*what) {
        auto all = nz::json::array();
        for (const rank_work& w : r.work) all.push_back(w.*what);
        return all;
    };
    nz::json j = {{"matrix", r.matrix},
                  {"rows", r.shape.rows},
                  {"cols", r.shape.cols},
                  {"nnz", r.nnz},
                  {"ranks", r.ranks()},
                  {"threads", o.threads},
                  {"where", r.where},
                  {"method", r.method},
                  {"median_s", r.product.median_s},
                  {"min_s", r.product.min_s},
                  {"spread", r.product.spread},
                  {"block_s", r.product.block_s},
                  {"gflops", r.flops / r.product.median_s * 1e-9},
                  {"without_messages_s", r.own_product.median_s},
                  {"messages_s", r.messages.median_s},
                  {"communication_share", r.communication()},
                  {"entries", of_ranks(&rank_work::entries)},
                  {"halo_entries", of_ranks(&rank_work::halo_entries)},
                  {"halo_bytes", of_ranks(&rank_work::halo_bytes)},
                  {"operator_bytes", of_ranks(&rank_work::operator_bytes)},
                  {"imbalance", r.imbalance()},
                  {"memory", to_json(r.memory)}};
    if (r.alone_s > 0) j.update({{"speed_up", r.speed_up()}, {"efficiency", r.efficiency()}});
    return j;
}

void print_table(const std::vector<result>& results, bool with_speed_up) {
    std::vector<column> columns{{"ranks"}, {"us"}, {"+-%", true, true}};
    if (with_speed_up) columns.insert(columns.end(), {{"speed\nup"}, {"effi-\nciency"}});
    columns.insert(columns.end(), {{"mes-\nsages"},
                                   {"halo kB\na rank"},
                                   {"most"},
                                   {"imbal-\nance"},
                                   {"peak MB\na rank"},
                                   {"times\nshare"}});
    table t(columns);
    for (const result& r : results) {
        std::vector<std::string> cells{std::to_string(r.ranks()),
                                       fmt::format("{:.1f}", r.product.median_s * 1e6),
                                       fmt::format("{:.1f}", r.product.spread * 100)};
        if (with_speed_up) {
            cells.push_back(fmt::format("{:.2f}", r.speed_up()));
            cells.push_back(fmt::format("{:.0f}%", r.efficiency() * 100));
        }
        cells.push_back(fmt::format("{:.0f}%", r.communication() * 100));
        cells.push_back(fmt::format("{:.1f}", r.mean(&rank_work::halo_bytes) * 1e-3));
        cells.push_back(fmt::format("{:.1f}", r.most(&rank_work::halo_bytes) * 1e-3));
        cells.push_back(fmt::format("{:.2f}", r.imbalance()));
        cells.push_back(fmt::format("{:.1f}", heaviest(r.memory).most_bytes * 1e-6));
        cells.push_back(fmt::format("{:.2f}", heaviest(r.memory).over_share()));
        t.add_row(std::move(cells));
    }
    t.print();
}

void print(const std::vector<result>& results, const ranks_bench& o, bool first) {
    const result& r = results.front();
    const std::string head =
        fmt::format("{}: {} x {}, {} entries, {}{}{}, {}", r.matrix, r.shape.rows, r.shape.cols,
                    r.nnz, o.type, o.distinct ? ", all values distinct" : "",
                    o.transpose ? ", products with A^T" : "", results.back().where);
    fmt::print("{}{}\n\n", first ? "" : "\n", wrapped(head, line_width(stdout), 2));
    print_table(results, o.table);
    std::fflush(stdout);
}

/// One matrix on all the numbers of ranks. Of the ranks that do not take part all is empty.
template <class V>
std::vector<result> measure_matrix(const ranks_bench& o, const std::string& path,
                                   const communicator& ranks) {
    std::vector<result> results;
    for (const int count : numbers_of_ranks(ranks.size(), o.table))
        on_first_ranks(count, [&](const communicator& those) {
            results.push_back(measure<V>(o, path, those));
            if (o.table) results.back().alone_s = results.front().product.median_s;
        });
    return results;
}

template <class V>
void measure_all(const ranks_bench& o, const communicator& ranks, json_file* json) {
    auto rows = nz::json::array();
    for (std::size_t k = 0; k < o.paths.size(); ++k) {
        const auto results = measure_matrix<V>(o, o.paths[k], ranks);
        if (json == nullptr) continue;
        if (!json->is_stdout()) print(results, o, k == 0);
        for (const result& r : results) rows.push_back(to_json(r, o));
    }
    if (json == nullptr) return;
    nz::json j = provenance("bench", o.on_gpu);
    j.update({{"type", o.type},
              {"device", o.on_gpu ? "gpu" : "cpu"},
              {"values", o.distinct ? "distinct" : "as they are"},
              {"transposed", o.transpose},
              {"processes", ranks.size()},
              {"over_ranks", rows}});
    json->write(j);
}

}  // namespace

int bench_on_ranks(const ranks_bench& o, const communicator& ranks) {
    std::unique_ptr<json_file> json;  // of rank 0, which alone prints
    agree(&ranks, [&] {
        if (ranks.rank() == 0) json = std::make_unique<json_file>(o.json);
    });
    with_value_type(o.type, [&]<class V>() {
        measure_all<V>(o, ranks, json.get());
        return done;
    });
    return done;
}

}  // namespace nz::cli
