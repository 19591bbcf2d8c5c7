// The range of numbers of an option: its help names it, and so does the refusal of other words.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>

namespace nz::cli {

/// An end that is not given is the type's.
template <class T>
struct number_range {
    T least = std::numeric_limits<T>::lowest();
    T most = std::numeric_limits<T>::max();
    bool open = false;  ///< the ends themselves are left out

    [[nodiscard]] bool has(T x) const {
        return open ? least < x && x < most : least <= x && x <= most;
    }
    /// "from 1 to 50", ">= 0", "> 0 and < 1"; empty where any number will do.
    [[nodiscard]] std::string text() const {
        const char* const digits = std::floating_point<T> ? "{:g}" : "{}";
        const auto shown = [&](T end) { return fmt::format(fmt::runtime(digits), end); };
        const bool above = std::is_unsigned_v<T> || least > std::numeric_limits<T>::lowest();
        const bool below = most < std::numeric_limits<T>::max();
        if (above && below && !open) return "from " + shown(least) + " to " + shown(most);
        const std::string equal = open ? " " : "= ";
        const std::string lower = above ? ">" + equal + shown(least) : "";
        const std::string upper = below ? "<" + equal + shown(most) : "";
        return lower + (above && below ? " and " : "") + upper;
    }
};

/// The number that the whole word is, in decimal digits; nothing where it is none, or none that T
/// holds, or not finite.
template <class T>
std::optional<T> number_of(const std::string& word) {
    const char* const end = word.data() + word.size();
    if constexpr (std::floating_point<T>) {
        char* stop = nullptr;
        const double x = std::strtod(word.c_str(), &stop);
        return word.empty() || stop != end || !std::isfinite(x) ? std::nullopt
                                                                : std::optional<T>(x);
    } else {
        T x{};
        const auto [stop, fault] = std::from_chars(word.data() + word.starts_with('+'), end, x);
        return fault != std::errc() || stop != end ? std::nullopt : std::optional<T>(x);
    }
}

/// What Option::transform takes. Words are checked before CLI11 converts them, which would take 010
/// for 8, a number too large for the largest there is, and nan for a number of any range.
template <class T>
CLI::Validator expect_number(number_range<T> range = {}) {
    const auto check = [range](std::string& word) -> std::string {
        const auto x = number_of<T>(word);
        if (x && range.has(*x)) {
            if constexpr (std::integral<T>) word = std::to_string(*x);
            return {};
        }
        const auto real = number_of<double>(word);
        const bool too_large = std::integral<T> && real && *real >= double(range.most);
        std::string what = std::integral<T> ? "whole number" : "number";
        if (too_large)
            what += fmt::format(" <= {}", range.most);
        else if (!range.text().empty())
            what += " " + range.text();
        return fmt::format("expected a {}, not '{}'", what, word);
    };
    return {check, range.text(), "number"};
}

}  // namespace nz::cli
