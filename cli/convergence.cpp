#include "cli/convergence.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <string>

#include "cli/command.hpp"
#include "cli/interruption.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {
namespace {

class line {
  public:
    line(double tol, std::string_view what) : tol_(tol), what_(what) {}
    line(const line&) = delete;
    line& operator=(const line&) = delete;
    ~line() {
        if (drawn_) fmt::print(stderr, "\r\033[K");
    }
    bool show(std::int64_t iteration, double residual) {
        const auto now = std::chrono::steady_clock::now();
        if (is_seen_ && now - last_ > std::chrono::milliseconds(50)) {
            fmt::print(stderr, "\r\033[K{} iterations, {} {:.2e} of {:g}", iteration, what_,
                       residual, tol_);
            last_ = now, drawn_ = true;
        }
        return !interruption::happened();
    }

  private:
    double tol_;
    std::string_view what_;
    bool is_seen_ = is_terminal(stderr);
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
    bool drawn_ = false;
};

constexpr std::size_t plot_width = 64;
constexpr int plot_height = 12;

/// log10 of a residual, zero and what is no number kept off the scale.
double decade_of(double residual) {
    return std::isfinite(residual) ? std::log10(std::max(residual, 1e-300)) : 300;
}

}  // namespace

std::function<bool(std::int64_t, double)> progress_line(double tol, std::string_view what) {
    const auto shown = std::make_shared<line>(tol, what);
    return [shown](std::int64_t iteration, double residual) {
        return shown->show(iteration, residual);
    };
}

void print_convergence(const std::vector<double>& history, double tol) {
    if (history.size() < 2) return;
    const std::size_t width = std::min(plot_width, history.size());
    std::vector<double> decades(width);
    for (std::size_t c = 0; c < width; ++c)
        decades[c] = decade_of(history[c * (history.size() - 1) / (width - 1)]);
    const auto [lowest, highest] = std::minmax_element(decades.begin(), decades.end());
    const double top = std::ceil(*highest);
    const double target = tol > 0 ? std::log10(tol) : *lowest;
    const double bottom = std::floor(std::min(*lowest, target));
    const double step = std::max(1.0, std::ceil((top - bottom) / plot_height));
    fmt::print("\n");
    for (double upper = top; upper > bottom; upper -= step) {
        std::string row(width, target <= upper && target > upper - step && tol > 0 ? '-' : ' ');
        for (std::size_t c = 0; c < width; ++c)
            if (decades[c] <= upper && decades[c] > upper - step) row[c] = '*';
        row.erase(row.find_last_not_of(' ') + 1);
        fmt::print("1e{:<+5} |{}\n", int(upper), row);
    }
    fmt::print("{:8}+{}\n", "", std::string(width, '-'));
    const std::string last = std::to_string(history.size() - 1);
    fmt::print("{:9}0{:>{}}\n", "", last, int(width) - 1);
}

namespace {

nz::json to_json(const factor_forecast& f) {
    return {{"library", name_of(f.library)},
            {"kind", f.is_cholesky ? "cholesky" : "lu"},
            {"entries", f.entries},
            {"operations", f.operations},
            {"bytes", f.bytes},
            {"seconds", f.seconds},
            {"is_complete", f.is_complete}};
}

nz::json to_json(const factor_report& r) {
    return {{"entries", r.entries},
            {"fill", r.fill},
            {"shifted_pivots", r.shifted_pivots},
            {"first_shifted", r.first_shifted},
            {"shift", r.shift},
            {"setup_s", r.setup_s}};
}

}  // namespace

std::string by_options(std::string sentence) {
    for (const auto& [name, option] :
         {std::pair<std::string, std::string>{"max_iter", "--max-iter"},
          {"max_seconds", "--max-seconds"},
          {"max_products", "--max-products"}}) {
        const auto at = sentence.find(name);
        if (at != std::string::npos) sentence.replace(at, name.size(), option);
    }
    return sentence;
}

nz::json to_json(const system_report::attempt& a) {
    const solve_report& r = a.report;
    nz::json j = {{"method", name_of(a.method)},
                  {"preconditioner", name_of(a.preconditioner)},
                  {"converged", r.converged},
                  {"status", name_of(r.status)},
                  {"why", r.why},
                  {"iterations", r.iterations},
                  {"inner_iterations", r.inner_iterations},
                  {"relative_residual", r.relative_residual()},
                  {"predicted_s", a.predicted_s},
                  {"preconditioner_s", a.preconditioner_s},
                  {"solve_s", a.solve_s}};
    if (a.forecast) j["forecast"] = to_json(*a.forecast);
    if (a.factors) j["factors"] = to_json(*a.factors);
    return j;
}

}  // namespace nz::cli
