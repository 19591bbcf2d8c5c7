// Options as a string of key=value: each verb has one table of its keys.
#pragma once

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "c/status.hpp"

namespace nz::c {

/// One option as it was given.
struct given {
    std::string_view key, value;
    [[noreturn]] void refuse(const std::string& expected) const {
        throw argument_error(fmt::format("options: {}={}, expected {}", key, value, expected));
    }
};

template <class T>
void take(const given& g, T& to) {
    const char* const end = g.value.data() + g.value.size();
    const auto [at, fault] = std::from_chars(g.value.data(), end, to);
    if (fault != std::errc() || at != end)
        g.refuse(std::is_floating_point_v<T> ? "a number" : "a whole number");
}
inline void take(const given& g, std::optional<double>& to) { take(g, to.emplace()); }
inline void take(const given& g, std::string& to) { to = g.value; }
void take(const given& g, bool& to);
void take(const given& g, std::vector<std::string>& to);  ///< with commas between them

/// The number of the value among these names.
std::size_t place_of(const given& g, std::span<const std::string_view> names);

/// A key of a table over the options O.
template <class O>
struct key {
    std::string_view name;
    void (*take_value)(O&, const given&);
};
template <auto member, class O>
constexpr key<O> plain(std::string_view name) {
    return {name, [](O& o, const given& g) { take(g, o.*member); }};
}
/// One of `names`, which are in the order of an enum.
template <auto member, const auto& names, class O>
constexpr key<O> named(std::string_view name) {
    return {name, [](O& o, const given& g) {
                auto& to = o.*member;
                using T = std::remove_reference_t<decltype(to)>;
                const auto place = place_of(g, names);
                if constexpr (requires { typename T::value_type; }) {
                    to = typename T::value_type(place);
                } else {
                    to = T(place);
                }
            }};
}

/// The options of a string. Throws argument_error, naming the fault, where it is not of the form.
std::vector<given> parsed(const char* text, std::string& storage);
[[noreturn]] void refuse_key(const given& g, const std::string& known);

/// Takes what `text` (null: nothing) gives. Throws argument_error.
template <class O>
void take_options(const char* text, std::span<const key<O>> keys, O& to) {
    std::string storage;
    for (const given& g : parsed(text, storage)) {
        const auto at = std::ranges::find(keys, g.key, &key<O>::name);
        if (at == keys.end()) {
            std::string known;
            for (const auto& k : keys) known += (known.empty() ? "" : ", ") + std::string(k.name);
            refuse_key(g, known);
        }
        at->take_value(to, g);
    }
}

}  // namespace nz::c
