#include "cli/commands/report_solvers.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>

#include "cli/commands/known_system.hpp"
#include "cli/convergence.hpp"
#include "cli/interruption.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {
namespace {

using V = double;

constexpr double tolerance = 1e-8;

/// Ends a solver when it has had its seconds, or at Ctrl-C.
class time_limit {
  public:
    explicit time_limit(double seconds) : seconds_(seconds) {}
    /// For solve_options::monitor; the limit must outlive it.
    bool goes_on(std::int64_t /*iteration*/, double /*residual*/) {
        const auto now = clock::now();
        if (!start_) start_ = now;
        is_over_ = std::chrono::duration<double>(now - *start_).count() >= seconds_;
        return !is_over_ && !interruption::happened();
    }
    [[nodiscard]] bool is_over() const { return is_over_; }

  private:
    using clock = std::chrono::steady_clock;
    double seconds_;
    std::optional<clock::time_point> start_;  ///< the first iteration
    bool is_over_ = false;
};

/// Four digits are more than a picture shows.
double rounded(double residual) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3e", residual);
    return std::strtod(text, nullptr);
}

nz::json with_history(const system_report::attempt& a) {
    constexpr std::size_t shown = 250;
    const std::vector<double>& all = a.report.history;
    const std::size_t every = std::max<std::size_t>(1, (all.size() + shown - 1) / shown);
    nz::json j = cli::to_json(a);
    j["tol"] = tolerance;
    j["history_every"] = every;
    j["history"] = nz::json::array();
    for (std::size_t k = 0; k < all.size(); k += every) j["history"].push_back(rounded(all[k]));
    return j;
}

/// Both of a method and a preconditioner, or neither: what nz::solve chooses.
struct choice {
    std::optional<krylov_method> method = {};
    std::optional<preconditioning> preconditioner = {};
};

}  // namespace

nz::json compare_solvers(const csr<V, host_view>& A, int threads, double seconds) {
    nz::json all = nz::json::array();
    if (A.shape.rows != A.shape.cols || A.val.empty()) return all;
    const cpu on{threads};
    const auto known = known_solution<V>({0, A.shape.cols});
    const auto b = product_with(on, A, known);
    const auto run = [&](const choice& c) {
        time_limit limit(seconds);
        system_options o;
        o.tol = tolerance, o.iterative = true;  // the page draws iterations
        o.method = c.method, o.preconditioner = c.preconditioner;
        o.monitor = std::bind_front(&time_limit::goes_on, &limit);
        host_vector<V> x(b.size(), 0.0);
        system_report report = nz::solve<V, cpu>(on, A, b, x, o);
        if (limit.is_over())  // which ends the last one
            report.attempts.back().report.why = fmt::format("ended after {:g} s", seconds);
        return report;
    };
    const system_report tried = run({});
    for (const system_report::attempt& a : tried.attempts) all.push_back(with_history(a));
    const krylov_method best = tried.result().method;
    using enum preconditioning;
    for (const auto& [method, preconditioner] : {std::pair(best, none), std::pair(best, jacobi),
                                                 std::pair(krylov_method::gmres, jacobi)}) {
        const auto same = [method = method,
                           preconditioner = preconditioner](const nz::json& before) {
            return before["method"] == name_of(method) &&
                   before["preconditioner"] == name_of(preconditioner);
        };
        if (interruption::happened() || std::any_of(all.begin(), all.end(), same)) continue;
        try {
            all.push_back(with_history(run({method, preconditioner}).result()));
        } catch (const unsuitable&) {
            // jacobi takes no diagonal with zeros: there is nothing to show.
        }
    }
    return all;
}

}  // namespace nz::cli
