#include "nonzero/plan/measure.hpp"

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

class stopwatch {
  public:
    explicit stopwatch(const measure_options& o)
        : now_(o.now ? o.now : steady_now), interrupted_(o.interrupted) {}
    [[nodiscard]] double now() const { return now_(); }
    [[nodiscard]] bool interrupted() const {
        return interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed);
    }
    /// Seconds that `runs` runs take.
    double time(const std::function<void()>& work, std::int64_t runs) const {
        const double start = now_();
        for (std::int64_t k = 0; k < runs; ++k) work();
        return now_() - start;
    }

  private:
    std::function<double()> now_;
    const std::atomic<bool>* interrupted_;
};

/// How many runs make a block. 0: interrupted.
std::int64_t choose_repeats(const stopwatch& watch, const std::function<void()>& work,
                            double block_s) {
    constexpr std::int64_t most = std::int64_t(1) << 30;  // of work that takes no time at all
    if (!watch.interrupted()) work();  // touches fresh pages and code, so counts for nothing
    for (std::int64_t runs = 1; !watch.interrupted(); runs *= 2) {
        const double s = watch.time(work, runs);
        // From half a block on, the guess of a whole one is good.
        if (s >= block_s / 2)
            return std::max<std::int64_t>(1, std::llround(double(runs) * block_s / s));
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
    if (!(options.seconds > 0 && options.block_s > 0))
        throw argument_error("time_interleaved: a time that is not positive");
    const stopwatch watch(options);
    std::vector<timing> all(work.size());
    for (std::size_t w = 0; w < work.size(); ++w)
        all[w].repeats_per_block = choose_repeats(watch, work[w], options.block_s);

    std::vector<double> spent_s(work.size(), 0);
    const auto wants_more = [&](std::size_t w) {
        return all[w].block_s.size() < min_blocks || spent_s[w] < options.seconds;
    };
    for (bool more = true; more && !watch.interrupted();) {
        more = false;
        for (std::size_t w = 0; w < work.size() && !watch.interrupted(); ++w) {
            if (!wants_more(w)) continue;
            const double start = watch.now();
            work[w]();
            const std::int64_t repeats = all[w].repeats_per_block;
            all[w].block_s.push_back(watch.time(work[w], repeats) / double(repeats));
            spent_s[w] += watch.now() - start;
            more = true;
        }
    }
    for (timing& t : all) summarise(t);
    return all;
}

}  // namespace nz
