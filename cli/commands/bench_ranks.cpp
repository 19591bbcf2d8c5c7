#include "cli/commands/bench_ranks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <numeric>

#include "cli/command.hpp"
#include "cli/commands/known_system.hpp"
#include "cli/rank_memory.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "cli/value_types.hpp"
#include "nonzero/core/agreement.hpp"
#include "nonzero/dist/distributed.hpp"
#include "nonzero/dist/read_slice.hpp"
#include "nonzero/dist/same_speeds.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/plan/measure.hpp"

namespace nz::cli {
namespace {

/// What one rank has to do in a product.
struct rank_work {
    double entries = 0;
    double halo_bytes = 0;  ///< elements of others that it receives
};

/// One matrix on so many ranks; the same on all of them.
struct result {
    std::string matrix, method;
    nz::shape shape = {};
    std::int64_t nnz = 0;
    timing product;      ///< from the first rank's start to the last one's end
    timing own_product;  ///< the same without messages: what the ranks multiply, and no more
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

/// Times work that all ranks do together. Every rank gets the longest rank's seconds, also as the
/// clock of the harness, so that all repeat the work as often.
std::vector<timing> timed_together(const communicator& ranks, double seconds,
                                   std::span<const std::function<void()>> work) {
    double passed = 0;
    std::vector<timed_runs> all;
    for (const auto& product : work)
        all.emplace_back([&](std::int64_t runs) {
            (void)on_all(&ranks, true);  // all begin at once
            const auto start = std::chrono::steady_clock::now();
            for (std::int64_t k = 0; k < runs; ++k) product();
            const std::chrono::duration<double> mine = std::chrono::steady_clock::now() - start;
            const double longest = std::ranges::max(gathered(ranks, mine.count()));
            passed += longest;
            return longest;
        });
    return time_interleaved(all, {.seconds = seconds, .now = [&] { return passed; }});
}

/// The product, and the same without messages: of the own columns, and of the others' as they came
/// last.
template <class V>
void time_products(const ranks_bench& o, const communicator& ranks, const distributed<V, cpu>& A,
                   result& r) {
    const transposition op = o.transpose ? transposition::transpose : transposition::plain;
    const auto x = known_solution<V>((o.transpose ? A.rows() : A.cols()).of(ranks.rank()));
    host_vector<V> y(std::size_t((o.transpose ? A.cols() : A.rows()).count(ranks.rank())), V(0));
    const nz::shape edge = A.others() == nullptr ? nz::shape{} : A.others()->shape();
    host_vector<V> edge_rows(std::size_t(edge.rows), V(1)), halo(std::size_t(edge.cols), V(1));
    const std::function<void()> work[] = {
        [&] { A.apply_transposed(op, V(1), x, V(0), y); },
        [&] {
            A.local().apply_transposed(op, V(1), x, V(0), y);
            if (A.others() == nullptr) return;
            o.transpose ? A.others()->apply_transposed(op, V(1), edge_rows, V(0), halo)
                        : A.others()->apply(V(1), halo, V(0), edge_rows);
        }};
    auto times = timed_together(ranks, o.seconds, work);
    r.product = std::move(times[0]), r.own_product = std::move(times[1]);
}

template <class V>
result measure(const ranks_bench& o, const std::string& path, const communicator& ranks) {
    const cpu on{.threads = o.threads, .ranks = &ranks};
    memory_watch watch;
    auto slice = read_slice<V>(ranks, path);
    const double share = share_bytes(slice, ranks.rank());
    plan_options planning{.methods = o.methods};
    watch.leave_out(
        [&] { planning = with_same_speeds(cpu{.threads = o.threads}, ranks, planning); });
    rank_work mine{.entries = double(slice.own.val.size())};
    result r;
    r.matrix = matrix_name(path), r.shape = slice.shape();
    r.nnz = summed(ranks, std::int64_t(slice.own.val.size()));
    r.flops = flops<V>(r.nnz);
    const distributed<V, cpu> A(on, std::move(slice), planning);
    r.method = A.method_name();
    time_products(o, ranks, A, r);
    mine.halo_bytes = double(A.exchanges().columns.size() * sizeof(V));
    r.work = gathered(ranks, mine);
    r.memory = gathered_memory(ranks, watch, share);
    return r;
}

/// 1, 2, 4, ... and all of them; without a table all of them only.
std::vector<int> numbers_of_ranks(int all, bool table) {
    std::vector<int> numbers;
    for (int n = 1; table && n < all; n *= 2) numbers.push_back(n);
    numbers.push_back(all);
    return numbers;
}

nlohmann::json to_json(const result& r, const ranks_bench& o) {
    auto entries = nlohmann::json::array(), halo = nlohmann::json::array();
    for (const rank_work& w : r.work) entries.push_back(w.entries), halo.push_back(w.halo_bytes);
    nlohmann::json j = {{"matrix", r.matrix},
                        {"rows", r.shape.rows},
                        {"cols", r.shape.cols},
                        {"nnz", r.nnz},
                        {"ranks", r.ranks()},
                        {"threads", o.threads},
                        {"method", r.method},
                        {"median_s", r.product.median_s},
                        {"min_s", r.product.min_s},
                        {"spread", r.product.spread},
                        {"block_s", r.product.block_s},
                        {"gflops", r.flops / r.product.median_s * 1e-9},
                        {"without_messages_s", r.own_product.median_s},
                        {"communication_share", r.communication()},
                        {"entries", entries},
                        {"halo_bytes", halo},
                        {"imbalance", r.imbalance()},
                        {"memory", to_json(r.memory)}};
    if (r.alone_s > 0) j.update({{"speed_up", r.speed_up()}, {"efficiency", r.efficiency()}});
    return j;
}

void print_table(const std::vector<result>& results, bool with_speed_up) {
    std::vector<column> columns{{"ranks"}, {"us"}, {"+-%", true, true}};
    if (with_speed_up) columns.insert(columns.end(), {{"speed\nup"}, {"effi-\nciency"}});
    columns.insert(columns.end(), {{"mes-\nsages"},
                                   {"halo KB\na rank"},
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
        fmt::format("{}: {} x {}, {} entries, {}{}, processes of {} thread{}", r.matrix,
                    r.shape.rows, r.shape.cols, r.nnz, o.type,
                    o.transpose ? ", products with A^T" : "", o.threads, o.threads > 1 ? "s" : "");
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
    auto rows = nlohmann::json::array();
    for (std::size_t k = 0; k < o.paths.size(); ++k) {
        const auto results = measure_matrix<V>(o, o.paths[k], ranks);
        if (json == nullptr) continue;
        if (!json->is_stdout()) print(results, o, k == 0);
        for (const result& r : results) rows.push_back(to_json(r, o));
    }
    if (json == nullptr) return;
    nlohmann::json j = provenance("bench");
    j.update({{"type", o.type},
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
