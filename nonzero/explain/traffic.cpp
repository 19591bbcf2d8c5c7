#include "nonzero/explain/traffic.hpp"

#include <algorithm>
#include <bit>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

double ratio(std::int64_t a, std::int64_t b, double otherwise) {
    return b == 0 ? otherwise : double(a) / double(b);
}

/// How many different numbers there are among n in a row, in ascending order or none.
template <class F>
std::int64_t count_runs(const per_lane& of, int n, F part) {
    std::int64_t runs = n > 0 ? 1 : 0;
    for (int k = 1; k < n; ++k)
        runs += part(of[std::size_t(k)]) != part(of[std::size_t(k) - 1]) ? 1 : 0;
    return runs;
}

request_counts counts_of(const access& a) {
    per_lane at;
    int n = 0;
    bool ascends = true;
    for (const std::int64_t k : a.at) {
        if (k == idle) continue;
        ascends = ascends && (n == 0 || at[std::size_t(n) - 1] <= k);
        at[std::size_t(n++)] = k;
    }
    if (!ascends) std::sort(at.begin(), at.begin() + n);
    const int log_elements = std::countr_zero(unsigned(matrix_stats::sector_bytes)) -
                             std::countr_zero(unsigned(a.to.bytes));
    return {.requests = 1,
            .sectors = count_runs(at, n, [=](std::int64_t k) { return k >> log_elements; }),
            .lanes = n,
            .used_bytes = count_runs(at, n, [](std::int64_t k) { return k; }) * a.to.bytes};
}

class counter final : public access_sink {
  public:
    void take(const access& a) override {
        const request_counts c = counts_of(a);
        if (a.store) {
            counted.stores += c;
            return;
        }
        counted.loads[std::size_t(a.to.role)] += c;
        if (!a.to.by_texture)
            counted.loads_by_width[std::size_t(std::countr_zero(unsigned(a.to.bytes)))] += c;
    }
    traffic counted;
};

traffic traffic_of_block(const kernel_trace& t, std::int64_t first_warp, int warps) {
    traffic all;
    for (std::int64_t w = first_warp; w < first_warp + warps; ++w) all += traffic_of_warp(t, w);
    all.waited_requests = all.busiest_requests * all.working_warps;
    return all;
}

}  // namespace

double request_counts::sectors_a_request() const { return ratio(sectors, requests, 0); }
double request_counts::lanes_a_request() const { return ratio(lanes, requests, 0); }
double request_counts::used_of_moved() const { return ratio(used_bytes, moved_bytes(), 1); }

request_counts& request_counts::operator+=(const request_counts& c) {
    requests += c.requests, sectors += c.sectors, lanes += c.lanes, used_bytes += c.used_bytes;
    return *this;
}

request_counts traffic::all_loads() const {
    request_counts all;
    for (const request_counts& c : loads) all += c;
    return all;
}

std::int64_t traffic::requests() const { return all_loads().requests + stores.requests; }

double traffic::warp_imbalance() const {
    return ratio(busiest_requests * working_warps, requests(), 1);
}
double traffic::block_imbalance() const { return ratio(waited_requests, requests(), 1); }

traffic& traffic::operator+=(const traffic& t) {
    for (std::size_t r = 0; r < loads.size(); ++r) loads[r] += t.loads[r];
    for (std::size_t w = 0; w < loads_by_width.size(); ++w)
        loads_by_width[w] += t.loads_by_width[w];
    stores += t.stores;
    warps += t.warps, working_warps += t.working_warps;
    busiest_requests = std::max(busiest_requests, t.busiest_requests);
    waited_requests += t.waited_requests;
    return *this;
}

traffic traffic_of_warp(const kernel_trace& t, std::int64_t warp) {
    counter c;
    t.trace(warp, c);
    c.counted.warps = 1;
    c.counted.busiest_requests = c.counted.waited_requests = c.counted.requests();
    c.counted.working_warps = c.counted.requests() > 0 ? 1 : 0;
    return c.counted;
}

std::vector<kernel_traffic> traffic_of(const kernel_trace& t, int threads,
                                       const std::atomic<bool>* interrupted) {
    std::vector<kernel_traffic> all;
    std::int64_t first = 0;
    for (const warp_grid& g : t.grids()) {
        const auto block = [&](std::int64_t b) {
            if (interrupted != nullptr && *interrupted) return traffic{};
            return traffic_of_block(t, first + b * g.warps_per_block, g.warps_per_block);
        };
        const auto join = [](traffic a, const traffic& b) { return a += b; };
        constexpr std::int64_t few = 64;  // blocks: not worth the start of threads
        const std::int64_t blocks = g.warps / g.warps_per_block;
        const traffic of_grid = parallel_reduce(blocks < few ? 1 : thread_count(cpu{threads}),
                                                blocks, traffic{}, join, block);
        first += g.warps;
        const auto same = std::find_if(
            all.begin(), all.end(), [&](const kernel_traffic& k) { return k.kernel == g.kernel; });
        if (same == all.end()) {
            all.push_back({g.kernel, of_grid});
        } else {
            same->of += of_grid;
        }
    }
    return all;
}

traffic total(const std::vector<kernel_traffic>& kernels) {
    traffic all;
    for (const kernel_traffic& k : kernels) all += k.of;
    return all;
}

}  // namespace nz
