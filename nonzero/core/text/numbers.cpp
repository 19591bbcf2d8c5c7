#include "nonzero/core/text/numbers.hpp"

#include <fmt/core.h>

#include <cmath>
#include <span>

namespace nz {
namespace {

/// Three digits of a number below 1,000; of one below a million its whole part.
std::string three_digits(double x) {
    const double size = std::abs(x);
    if (size >= 1e6) return fmt::format("{:.1e}", x);
    if (size < 9.995) return fmt::format("{:.2f}", x);
    if (size < 99.95) return fmt::format("{:.1f}", x);
    return fmt::format("{:.0f}", x);
}

/// With the first of the units in which three digits suffice, or the last. Each is `step` times
/// the one before it; `x` is in the first.
std::string with_unit(double x, std::span<const char* const> units) {
    constexpr double step = 1000, rounds_up = 999.5;
    std::size_t unit = 0;
    for (; std::abs(x) >= rounds_up && unit + 1 < units.size(); ++unit) x /= step;
    return three_digits(x) + " " + units[unit];
}

}  // namespace

std::string text_of_number(double x) {
    static constexpr const char* units[] = {"M", "G", "T"};
    const double size = std::abs(x);
    if (!std::isfinite(x)) return fmt::format("{}", x);
    if (x != 0 && (size < 1e-3 || size >= 1e15)) return fmt::format("{:.1e}", x);
    if (size < 999.5) return fmt::format("{:.3g}", x);
    return size < 999999.5 ? fmt::format("{:.0f}", x) : with_unit(x * 1e-6, units);
}

std::string text_of_time(double s) {
    static constexpr const char* units[] = {"ns", "us", "ms", "s"};
    if (s == 0 || !std::isfinite(s)) return fmt::format("{} s", s);
    return std::abs(s) >= 999.5 ? three_digits(s) + " s" : with_unit(s * 1e9, units);
}

std::string text_of_bytes(double bytes) {
    static constexpr const char* units[] = {"B", "kB", "MB", "GB", "TB"};
    return bytes < 999.5 ? fmt::format("{:.0f} B", bytes) : with_unit(bytes, units);
}

}  // namespace nz
