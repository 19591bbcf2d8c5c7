// Was the machine quiet while it was measured? What is said where it was not.
#pragma once

#include <span>
#include <string>

#include "nonzero/plan/benchmark.hpp"

namespace nz::cli {

/// Where quartiles are this far apart, over their median, something else used the machine. The page
/// of nz report draws the same line.
inline constexpr double busy_spread = 0.5;
inline bool is_busy(const benchmark_result& t) {
    return t.measured() && t.time.spread > busy_spread;
}
/// A number, with "~" before it where the machine was busy: it is no result to compare.
inline std::string doubtful(const benchmark_result& t, const std::string& number) {
    return (is_busy(t) ? "~" : "") + number;
}

/// Some results, as a table has them.
using result_list = std::span<const benchmark_result* const>;

/// Sentences on what speaks against a quiet machine among the results; empty where nothing does:
/// spreads above busy_spread, and csr.static much slower on several threads than on one.
std::string busy_note(result_list results);

/// The same of bandwidths, read in GB/s on one thread and on several.
std::string busy_note(double on_one, double on_several, int threads);

}  // namespace nz::cli
