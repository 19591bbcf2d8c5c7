#include "nonzero/plan/timing/measure.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

double steady_now() {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/// The q-quantile of ascending values, linear between neighbours.
double quantile(const std::vector<double>& ascending, double q) {
    const double at = q * double(ascending.size() - 1);
    const auto below = std::size_t(at);
    const std::size_t above = std::min(below + 1, ascending.size() - 1);
    return ascending[below] + (at - double(below)) * (ascending[above] - ascending[below]);
}

std::function<double()> clock_of(const measure_options& o) { return o.now ? o.now : steady_now; }

bool interrupted(const measure_options& o) {
    return o.interrupted != nullptr && o.interrupted->load(std::memory_order_relaxed);
}

/// The work, timed by `now`.
timed_runs timed_by(const std::function<double()>& now, const std::function<void()>& work) {
    return [&work, now](std::int64_t runs) {
        const double start = now();
        for (std::int64_t k = 0; k < runs; ++k) work();
        return now() - start;
    };
}

/// How many runs make a block. 0: interrupted.
std::int64_t choose_repeats(const timed_runs& work, const measure_options& o) {
    constexpr std::int64_t most = std::int64_t(1) << 30;  // of work that takes no time at all
    if (!interrupted(o)) work(1);  // touches fresh pages and code, so counts for nothing
    for (std::int64_t runs = 1; !interrupted(o); runs *= 2) {
        const double s = work(runs);
        // From half a block on, the guess of a whole one is good.
        if (s >= o.block_s / 2)
            return std::max<std::int64_t>(1, std::llround(double(runs) * o.block_s / s));
        if (runs == most) return runs;
    }
    return 0;
}

void summarise(timing& t) {
    if (t.block_s.empty()) return;
    std::vector<double> sorted = t.block_s;
    std::sort(sorted.begin(), sorted.end());
    t.median_s = quantile(sorted, 0.5);
    t.min_s = sorted.front();
    if (t.median_s > 0) t.spread = (quantile(sorted, 0.75) - quantile(sorted, 0.25)) / t.median_s;
}

}  // namespace

std::vector<timing> time_interleaved(std::span<const std::function<void()>> work,
                                     const measure_options& options) {
    std::vector<timed_runs> timed;
    for (const auto& item : work) timed.push_back(timed_by(clock_of(options), item));
    return time_interleaved(timed, options);
}

std::vector<timing> time_interleaved(std::span<const timed_runs> work,
                                     const measure_options& options) {
    if (!(options.seconds > 0 && options.block_s > 0))
        throw argument_error("time_interleaved: a time that is not positive");
    if (options.warm_up_runs < 0)
        throw argument_error("time_interleaved: a negative number of warm-up runs");
    std::vector<timing> all(work.size());
    for (std::size_t w = 0; w < work.size(); ++w)
        all[w].repeats_per_block = choose_repeats(work[w], options);

    const auto now = clock_of(options);
    std::vector<double> spent_s(work.size(), 0);
    const auto wants_more = [&](std::size_t w) {
        return all[w].block_s.size() < min_blocks || spent_s[w] < options.seconds;
    };
    for (bool more = true; more && !interrupted(options);) {
        more = false;
        for (std::size_t w = 0; w < work.size() && !interrupted(options); ++w) {
            if (!wants_more(w)) continue;
            const double start = now();
            if (options.warm_up_runs > 0) work[w](options.warm_up_runs);
            const std::int64_t repeats = all[w].repeats_per_block;
            all[w].block_s.push_back(work[w](repeats) / double(repeats));
            spent_s[w] += now() - start;
            more = true;
        }
    }
    for (timing& t : all) summarise(t);
    return all;
}

}  // namespace nz
