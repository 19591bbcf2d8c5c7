// Shared by the studies on CPUs and GPUs: a matrix's results, and how numbers are shown.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "cli/command.hpp"
#include "cli/report.hpp"
#include "nonzero/core/format.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/plan/benchmark.hpp"
#include "nonzero/plan/plan.hpp"

namespace nz::cli {

struct study_options {
    std::vector<std::string> paths;
    std::string threads, device = "cpu", json;
    double seconds = 8;
    bool explains = false;  ///< counts the memory requests of GPU kernels, on the CPU
};

/// nz study --device gpu. Throws unavailable where there is none.
int study_on_gpu(const study_options&);

inline std::string_view layout_of(std::string_view method) {
    return method.substr(0, method.find('.'));
}

/// The values are doubles.
struct matrix_result {
    std::string name;
    nz::shape shape;
    std::int64_t nnz = 0;
    std::vector<benchmark_result> results;
    std::string path = {};
    matrix_stats stats = {};
    plan_report plan = {};    ///< on the most threads; without candidates where it was not made
    nz::json explained = {};  ///< by memory_view; null where that was not asked

    /// The method the planner chooses; empty where it was not asked.
    [[nodiscard]] std::string planned() const {
        return plan.candidates.empty() ? "" : plan.chosen().method;
    }
    [[nodiscard]] double gflops(const benchmark_result& t) const {
        return flops<double>(nnz) / t.time.median_s * 1e-9;
    }
    [[nodiscard]] const benchmark_result* find(std::string_view method, int threads) const {
        for (const benchmark_result& t : results)
            if (t.method == method && t.threads == threads && t.measured()) return &t;
        return nullptr;
    }
    /// The fastest that passes; null where none does.
    [[nodiscard]] const benchmark_result* fastest(
        const std::function<bool(const benchmark_result&)>& passes) const {
        const benchmark_result* best = nullptr;
        for (const benchmark_result& t : results)
            if (t.measured() && passes(t) &&
                (best == nullptr || t.time.median_s < best->time.median_s))
                best = &t;
        return best;
    }
    [[nodiscard]] const benchmark_result* fastest(std::string_view layout) const {
        return fastest([&](const benchmark_result& t) { return layout_of(t.method) == layout; });
    }
    /// T_serial / T_parallel: over the fastest serial method of the same layout, or over
    /// csr.serial where the layout has none. 0 where that was not measured.
    [[nodiscard]] double speed_up(const benchmark_result& t) const {
        const benchmark_result* serial = fastest([&](const benchmark_result& s) {
            return s.one_thread && layout_of(s.method) == layout_of(t.method);
        });
        if (serial == nullptr) serial = find("csr.serial", 1);
        return serial == nullptr ? 0 : serial->time.median_s / t.time.median_s;
    }
};

inline std::string number(double x) { return x > 0 ? fmt::format("{:.2f}", x) : "-"; }

/// A bar of x / most, at most 12 characters; plain ones where the output is no terminal. None where
/// most is 0, as the speed is of a matrix without entries.
inline std::string drawn(double x, double most) {
    constexpr int width = 12;
    if (!(most > 0)) return {};
    if (is_terminal(stdout)) return bar(x / most, width);
    return std::string(std::size_t(std::lround(std::clamp(x / most, 0.0, 1.0) * width)), '#');
}

/// A name at the head of a column: in two lines, broken after a '.', '_' or '-', where it is long.
inline std::string head_of(const std::string& name) {
    constexpr std::size_t long_name = 10;
    if (name.size() <= long_name) return name;
    const auto longer = [&](std::size_t at) { return std::max(at, name.size() - at); };
    std::size_t best = name.size();
    for (std::size_t at = 1; at < name.size(); ++at)
        if (std::string_view("._-").find(name[at - 1]) != std::string_view::npos &&
            longer(at) < longer(best))
            best = at;
    return best == name.size() ? name : name.substr(0, best) + "\n" + name.substr(best);
}

/// How many of the results with a time pass.
struct tally {
    std::size_t results = 0, validated = 0;
};
tally count_validated(std::span<const matrix_result>);
/// The methods that are not validated, the largest errors, and how many are validated.
void print_validation(std::span<const matrix_result>);
/// A matrix's entry in the JSON, without its results.
nz::json to_json(const matrix_result&);
/// A result's row of the JSON.
nz::json to_json(const matrix_result&, const benchmark_result&);

/// One method on one number of threads, in the mean over the matrices it ran on.
struct mean {
    std::string method;
    int threads = 1;
    int matrices = 0;
    double gflops = 0, speed_up = 0, efficiency = 0;
};

/// nz study on a CPU, measured.
struct cpu_study {
    std::vector<int> threads;
    std::vector<std::string> serial, parallel;  ///< names of methods
    std::vector<matrix_result> matrices;

    [[nodiscard]] int most_threads() const {
        return *std::max_element(threads.begin(), threads.end());
    }
    [[nodiscard]] mean mean_of(const std::string& method, int on_threads) const;
};

/// Further work on a matrix once it is measured, while it is in memory.
using matrix_visitor = std::function<void(const csr<double, host_view>&, const matrix_result&)>;

/// Measures every method on every matrix and number of threads, and shows on stderr how far it is.
/// To be called within an interruption, after which it returns what there is. Throws as read_matrix
/// and parse_threads.
cpu_study measure_study(const study_options&, const matrix_visitor& = {});
nz::json to_json(const cpu_study&);

}  // namespace nz::cli
