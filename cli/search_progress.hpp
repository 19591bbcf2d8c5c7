// Progress of a search for eigenpairs or singular triplets, where somebody watches it.
#pragma once

#include <fmt/core.h>

#include <functional>
#include <optional>
#include <string_view>

#include "cli/command.hpp"
#include "cli/interruption.hpp"
#include "cli/ranks.hpp"
#include "cli/report.hpp"
#include "nonzero/core/stopwatch.hpp"
#include "nonzero/solve/eigs/eigs.hpp"

namespace nz::cli {

/// Monitor of a search: a line on stderr, some 20 times a second, gone when it is; false after
/// Ctrl-C.
class search_line {
  public:
    search_line(double tol, std::string_view found) : tol_(tol), found_(found) {}
    search_line(const search_line&) = delete;
    search_line& operator=(const search_line&) = delete;
    ~search_line() {
        if (drawn_) fmt::print(stderr, "\r\033[K");
    }
    bool operator()(const eigs_options::progress& p) {
        if (seconds_since(last_) > 0.05) {
            fmt::print(stderr, "\r\033[K{} products, {} of {} {}{}, residual {:.2e} of {:g}",
                       p.products, p.converged, p.wanted, found_,
                       p.checks ? ", looking for copies" : "", p.residual, tol_);
            last_ = steady_clock::now(), drawn_ = true;
        }
        return !interruption::happened();
    }

  private:
    double tol_;
    std::string_view found_;
    steady_clock::time_point last_ = steady_clock::now();
    bool drawn_ = false;
};

/// search(with), with a line of progress where somebody sees it. found: its finds, as "pairs".
template <class Options, class F>
auto watched(Options with, double tol, std::string_view found, F search) {
    search_line line(tol, found);
    std::optional<interruption> stop;
    with.tol = tol;
    // Without anybody to monitor, Ctrl-C ends the process as it does elsewhere.
    if (is_speaker() && is_terminal(stderr)) {
        stop.emplace();
        with.monitor = std::ref(line);
    }
    return search(with);
}

}  // namespace nz::cli
