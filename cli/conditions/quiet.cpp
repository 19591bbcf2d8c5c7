#include "cli/conditions/quiet.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace nz::cli {
namespace {

/// Threads take turns at a short product more slowly than one does; not at one that takes as long.
constexpr double long_product_s = 2e-4;
constexpr double far_slower = 1.5;
constexpr const char* plain_method = "csr.static";

std::string slower_threads(result_list results) {
    for (const benchmark_result* one : results) {
        if (one->method != plain_method || one->threads != 1 || !one->measured()) continue;
        if (one->time.median_s < long_product_s) continue;
        for (const benchmark_result* several : results)
            if (several->method == plain_method && several->threads > 1 && several->measured() &&
                several->matrix_bytes == one->matrix_bytes &&
                several->time.median_s > far_slower * one->time.median_s)
                return fmt::format("{} takes {:.1f} times as long on {} threads as on one.",
                                   plain_method, several->time.median_s / one->time.median_s,
                                   several->threads);
    }
    return {};
}

}  // namespace

std::string busy_note(result_list results) {
    const auto measured =
        std::count_if(results.begin(), results.end(), [](const auto* t) { return t->measured(); });
    const auto busy =
        std::count_if(results.begin(), results.end(), [](const auto* t) { return is_busy(*t); });
    std::string what;
    if (busy > 0)
        what = fmt::format("{} of {} times have a spread above half their median (~).", busy,
                           measured);
    const std::string slower = slower_threads(results);
    if (!slower.empty()) what += (what.empty() ? "" : " ") + slower;
    if (what.empty()) return {};
    return "The machine was busy: " + what + " Measure again when nothing else runs.";
}

std::string busy_note(double on_one, double on_several, int threads) {
    constexpr double much_less = 0.7;
    if (!(on_several < much_less * on_one)) return {};
    return fmt::format(
        "The machine is busy: {} threads together read {:.1f} GB/s, one alone {:.1f}. Measure "
        "again when nothing else runs.",
        threads, on_several, on_one);
}

}  // namespace nz::cli
