#include "nonzero/plan/speeds.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <mutex>
#include <optional>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/memory.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/sell/sell.hpp"
#include "nonzero/plan/kept_speeds.hpp"

namespace nz {

double rate_for(const std::vector<machine_speeds::rate_at>& rates, double bytes) {
    const auto above =
        std::find_if(rates.begin(), rates.end(),
                     [&](const machine_speeds::rate_at& r) { return r.bytes >= bytes; });
    if (above == rates.begin()) return above->per_s;
    const machine_speeds::rate_at& below = *(above - 1);
    if (above == rates.end()) return below.per_s;
    const double at = std::log(bytes / below.bytes) / std::log(above->bytes / below.bytes);
    return below.per_s + at * (above->per_s - below.per_s);
}

bool is_usable(const machine_speeds& s) {
    const auto positive = [](double v) { return v > 0 && std::isfinite(v); };
    const auto all_positive = [&](const std::vector<machine_speeds::rate_at>& rates) {
        return !rates.empty() &&
               std::all_of(rates.begin(), rates.end(), [&](const machine_speeds::rate_at& r) {
                   return positive(r.bytes) && positive(r.per_s);
               });
    };
    return s.launch_s >= 0 && positive(s.unit_s) && positive(s.out_of_cache_factor) &&
           s.workers >= 1 && s.lanes >= 1 && all_positive(s.reads) && all_positive(s.gathers) &&
           positive(s.convert_bytes_per_s) && s.upload_bytes_per_s >= 0;
}

namespace {

double x_bytes_of(const estimate& e, const matrix_stats& s) {
    if (e.x_bytes > 0) return e.x_bytes;
    return e.vector_bytes * double(s.cols) / std::max(double(s.rows + s.cols), 1.0);
}

/// Loads by rows of a thousand entries and more, at least, of as many in all.
double loads_by_long_rows(const matrix_stats& s, double requests) {
    constexpr std::int64_t least = 1024;
    if (s.max_row_nnz() < least) return 0;
    double by_others = 0;
    for (const auto& [length, rows] : s.row_lengths)
        if (length < least) by_others += double(length) * double(rows);
    return std::max(0.0, requests - by_others);
}

/// How many of `requests` loads of x miss L1. A group of rows loads each of its distinct sectors
/// once, as far as these fit L1. A large matrix that streams through L1 evicts x, so that every
/// load misses: dia.row and packed.warp move the same bytes of atmosmodd_like, and packed.warp,
/// which bypasses L1, takes 0.75 of the time (H200, docs/experiments/planner.md at e190fce). On a
/// GPU long rows load from all of x at once, however little the groups do in the mean: 400 rows of
/// 7,000 entries beside 450,000 of ten.
double loads_that_miss_l1(const estimate& e, const matrix_stats& s, const machine_speeds& m,
                          double requests) {
    const bool evicted = m.evicting_bytes > 0 && e.bytes() > m.evicting_bytes && !e.bypasses_l1;
    if (s.group_sectors == 0 || evicted) return requests;
    const double groups = std::ceil(double(s.rows) / double(matrix_stats::groups[1]));
    const double bytes_of_group =
        double(s.group_sectors) / groups * double(matrix_stats::sector_bytes);
    const double held = m.l1_bytes > 0 ? std::min(1.0, m.l1_bytes / bytes_of_group) : 1;
    const bool l1_holds_x = 2 * rate_for(m.gathers, x_bytes_of(e, s)) > m.gathers.front().per_s;
    const double by_long = m.units_load_x || l1_holds_x ? 0 : loads_by_long_rows(s, requests);
    const double others = requests - by_long;
    return by_long + others - std::max(0.0, others - double(s.group_sectors)) * held;
}

}  // namespace

namespace {

/// Seconds of a load of x[j] that misses L1. Where neighbouring rows load near each other, the
/// caches hold that part of x, however long x or a stripe of it is.
double seconds_of_gather(const estimate& e, const matrix_stats& s, const machine_speeds& m) {
    const double x_bytes = x_bytes_of(e, s);
    const double stripe_bytes = x_bytes / e.stripes;
    const double near_bytes =
        std::min(stripe_bytes, 2.0 * matrix_stats::far * x_bytes / std::max(double(s.cols), 1.0));
    const double far = double(s.far_columns) / std::max(double(s.compared_columns), 1.0);
    return far / rate_for(m.gathers, stripe_bytes) + (1 - far) / rate_for(m.gathers, near_bytes);
}

/// Seconds of one work unit of a product that reads `bytes`. It reads from the last cache up to the
/// smallest size in m.reads, and from memory from the largest size on.
double unit_s(const machine_speeds& m, double bytes) {
    const double least = m.reads.front().bytes, most = m.reads.back().bytes;
    if (m.out_of_cache_factor == 1 || bytes <= least) return m.unit_s;
    const double beyond = std::min(1.0, std::log(bytes / least) / std::log(most / least));
    return m.unit_s * (1 + (m.out_of_cache_factor - 1) * beyond);
}

}  // namespace

double predicted_seconds(const estimate& e, const matrix_stats& s, const machine_speeds& m) {
    const double requests = e.sector_requests > 0 ? e.sector_requests : double(s.nnz);
    const double units = e.work_units > 0 ? e.work_units : double(s.nnz) / m.lanes;
    const double apart = std::max(0.0, requests - e.held_requests);
    const double misses = std::min(apart, loads_that_miss_l1(e, s, m, apart));
    const double l1_s = 1 / m.gathers.front().per_s, x_s = seconds_of_gather(e, s, m);
    // The measured time of a load includes the work that finds its index. Both overlap, as the
    // parts below do.
    const double beyond_l1_s = std::sqrt(std::max(0.0, x_s * x_s - l1_s * l1_s));
    const double request_s = m.units_load_x ? misses * beyond_l1_s : requests * l1_s + misses * x_s;
    const double parts[] = {
        e.bytes() / rate_for(m.reads, e.bytes()),
        request_s,
        units / m.workers * unit_s(m, e.bytes()),
        e.critical_units * m.unit_s,
    };
    // They overlap, but not wholly: between the longest of them and their sum.
    double squares = 0;
    for (const double part : parts) squares += part * part;
    return e.launches * m.launch_s + std::sqrt(squares) * e.imbalance;
}

double predicted_setup_seconds(const estimate& e, double csr_bytes, const machine_speeds& m) {
    const double upload = m.upload_bytes_per_s > 0 ? e.matrix_bytes / m.upload_bytes_per_s : 0;
    const double moved = e.setup_bytes > 0 ? e.setup_bytes : 2 * csr_bytes + e.matrix_bytes;
    return upload + moved / m.convert_bytes_per_s;
}

namespace {

json to_json(const std::vector<machine_speeds::rate_at>& rates) {
    json j = json::array();
    for (const machine_speeds::rate_at& r : rates) j.push_back(json::array({r.bytes, r.per_s}));
    return j;
}

/// Throws json::exception where they are not rates.
std::vector<machine_speeds::rate_at> read_rates(const json& j) {
    std::vector<machine_speeds::rate_at> rates;
    for (const json& r : j.elements()) {
        if (r.size() != 2) throw json::exception("expected a size and a rate");
        rates.push_back({r[0].number(), r[1].number()});
    }
    return rates;
}

/// All of them as rates, in one order.
measured_rates rates_of(const machine_speeds& s) {
    measured_rates all = {1 / s.launch_s, 1 / s.unit_s, s.convert_bytes_per_s};
    for (const machine_speeds::rate_at& r : s.reads) all.push_back(r.per_s);
    for (const machine_speeds::rate_at& r : s.gathers) all.push_back(r.per_s);
    return all;
}
void set_rates(machine_speeds& s, const measured_rates& all) {
    s.launch_s = 1 / all[0], s.unit_s = 1 / all[1], s.convert_bytes_per_s = all[2];
    auto at = all.begin() + 3;
    for (machine_speeds::rate_at& r : s.reads) r.per_s = *at++;
    for (machine_speeds::rate_at& r : s.gathers) r.per_s = *at++;
}

/// Whether a CPU can be so fast, by wide margins: one of 600 MHz takes 60 M entries a second from
/// L1, memory answers within a microsecond, and no thousand cores read 100 TB/s.
bool plausible(const machine_speeds& s) {
    const auto within = [](double x, double least, double most) { return x >= least && x <= most; };
    const auto all = [](const std::vector<machine_speeds::rate_at>& rates, auto good) {
        return !rates.empty() &&
               std::all_of(rates.begin(), rates.end(), [&](const machine_speeds::rate_at& r) {
                   return r.bytes > 0 && std::isfinite(r.bytes) && good(r.per_s);
               });
    };
    return within(s.launch_s, 1e-9, 0.1) && within(s.unit_s, 1e-11, 1e-7) &&
           within(s.convert_bytes_per_s, 1e7, 1e13) &&
           all(s.reads, [&](double per_s) { return within(per_s, 1e8, 1e14); }) &&
           all(s.gathers, [&](double per_s) { return within(per_s, 1e6, 1e13); }) &&
           s.gathers.front().per_s >= 5e7;
}

machine_speeds read_speeds(const json& j) {
    return {.launch_s = j.at("launch_s").number(),
            .unit_s = j.at("step_s").number(),
            .reads = read_rates(j.at("reads")),
            .gathers = read_rates(j.at("gathers")),
            .convert_bytes_per_s = j.at("convert_bytes_per_s").number()};
}
json written(const machine_speeds& s) {
    return {{"launch_s", s.launch_s},
            {"step_s", s.unit_s},
            {"reads", to_json(s.reads)},
            {"gathers", to_json(s.gathers)},
            {"convert_bytes_per_s", s.convert_bytes_per_s}};
}

/// 512 rows of 16 entries: 98 KB with doubles, of which a core's caches hold all.
csr<double, host> small_matrix(index rows, index width) {
    csr<double, host> A{{rows, rows}, {}, {}, {}};
    host_vector<offset> ptr(std::size_t(rows) + 1);
    for (std::size_t i = 0; i < ptr.size(); ++i) ptr[i] = offset(i) * width;
    A.row_ptr = offset_vector(ptr);
    A.val.assign(std::size_t(rows) * std::size_t(width), 1.0);
    A.col_ind.resize(A.val.size());
    for (std::size_t k = 0; k < A.val.size(); ++k)
        A.col_ind[k] =
            index((k / std::size_t(width) + k % std::size_t(width) * 29) % std::size_t(rows));
    return A;
}

double fastest_s(int runs, const std::function<void()>& f) {
    f();
    double best = std::numeric_limits<double>::infinity();
    for (int k = 0; k < runs; ++k) {
        const auto start = std::chrono::steady_clock::now();
        f();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        best = std::min(best, took.count());
    }
    return best;
}

/// Seconds of one entry in a product that does not wait for memory.
double measure_unit_s() {
    const auto A = small_matrix(512, 16);
    const host_vector<double> x(512, 1.0);
    host_vector<double> y(512);
    constexpr int products = 20;
    const double s = fastest_s(20, [&] {
        for (int k = 0; k < products; ++k)
            spmv(cpu{1}, csr_serial{}, 1.0, view(A), std::span<const double>(x), 0.0,
                 std::span<double>(y));
    });
    return s / products / double(A.val.size());
}

/// Bytes of CSR and layout that a conversion moves, of which SELL's is a middling example: it looks
/// at the rows, sorts them, and writes the layout (bench/results/h200: 10 to 70 GB/s on 16 cores,
/// SELL 49).
double measure_conversion() {
    const auto A = small_matrix(1 << 18, 16);  // 50 MB: beyond most caches
    double built = 0;
    const double s =
        fastest_s(3, [&] { built = double(bytes(sell<double, host>::from(view(A)))); });
    return (2 * double(bytes(A)) + built) / s;
}

machine_speeds measure_once(int threads) {
    const cpu_speeds c = measure_cpu(threads);
    return {.launch_s = c.region_s,
            .unit_s = measure_unit_s(),
            .reads = c.reads,
            .gathers = c.gathers,
            .convert_bytes_per_s = measure_conversion()};
}

machine_speeds known_speeds(int threads, bool fresh) {
    return known_or_measured<machine_speeds>(cache_path("machine-cpu-" + std::to_string(threads)),
                                             machine_key(describe_machine(), threads),
                                             {read_speeds, written, plausible, rates_of, set_rates},
                                             fresh, [&] { return measure_once(threads); });
}

}  // namespace

machine_speeds speeds_of(cpu on, bool fresh) {
    static std::mutex one_at_a_time;  // so that no two measure at once, and disturb each other
    static std::map<int, machine_speeds> known;
    const int threads = thread_count(on);
    const std::lock_guard lock(one_at_a_time);
    auto at = known.find(threads);
    if (at != known.end() && !fresh) return at->second;
    machine_speeds s = known_speeds(threads, fresh);
    s.workers = threads;
    s.units_load_x = true;
    s.memory_bytes = double(memory_bytes());
    return known[threads] = std::move(s);
}

machine_speeds speeds_of(const known_gpu& g) {
    const double l2_bytes = double(g.what.l2_bytes);
    machine_speeds s{.launch_s = g.speeds.launch_s,
                     .unit_s = g.speeds.latency_s,
                     .out_of_cache_factor = 2,  // fitted (docs/experiments/planner.md)
                     .workers = double(g.speeds.resident_warps),
                     .lanes = 32,
                     // Data that fits the L2 cache stays there from product to product.
                     .reads = {{l2_bytes / 2, g.speeds.l2_read_gbps * 1e9},
                               {l2_bytes * 2, g.speeds.memory.read_gbps * 1e9}},
                     .gathers = {},
                     .evicting_bytes = l2_bytes / 2,
                     .upload_bytes_per_s = g.speeds.upload_gbps * 1e9};
    for (const gather_rate& at : g.speeds.gathers)
        s.gathers.push_back({double(at.x_bytes), at.per_s});
    for (const machine_speeds::rate_at& r : s.gathers)
        if (r.per_s > s.gathers.front().per_s / 2) s.l1_bytes = r.bytes;
    return s;
}

machine_speeds speeds_of(gpu on, bool fresh) {
    static std::mutex one_at_a_time;
    static std::map<int, machine_speeds> known;  // by device: reading the file takes a millisecond
    require_gpu(on);
    const std::lock_guard lock(one_at_a_time);
    const auto at = known.find(on.device);
    if (at != known.end() && !fresh) return at->second;
    machine_speeds s = speeds_of(known_gpu{describe_gpu(on), known_gpu_speeds(on, fresh)});
    s.convert_bytes_per_s = speeds_of(cpu{}, fresh).convert_bytes_per_s;
    return known[on.device] = std::move(s);
}

}  // namespace nz
