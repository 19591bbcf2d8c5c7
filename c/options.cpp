#include "c/options.hpp"

#include <algorithm>

namespace nz::c {
namespace {

constexpr std::string_view space = " \t\r\n";

}  // namespace

void take(const given& g, bool& to) {
    if (g.value != "yes" && g.value != "no") g.refuse("yes or no");
    to = g.value == "yes";
}
void take(const given& g, std::vector<std::string>& to) {
    to.clear();
    for (std::size_t at = 0; at <= g.value.size();) {
        const auto end = std::min(g.value.find(',', at), g.value.size());
        to.emplace_back(g.value.substr(at, end - at));
        at = end + 1;
    }
}

std::size_t place_of(const given& g, std::span<const std::string_view> names) {
    const auto at = std::ranges::find(names, g.value);
    if (at == names.end()) g.refuse(fmt::format("one of {}", fmt::join(names, ", ")));
    return std::size_t(at - names.begin());
}

std::vector<given> parsed(const char* text, std::string& storage) {
    std::vector<given> all;
    if (text == nullptr) return all;
    storage = text;
    const std::string_view whole = storage;
    std::size_t at = whole.find_first_not_of(space);
    while (at != std::string_view::npos) {
        const auto equals = whole.find('=', at);
        const auto word_end = std::min(whole.find_first_of(space, at), whole.size());
        if (equals == std::string_view::npos || equals > word_end || equals == at)
            throw argument_error(
                fmt::format("options: '{}', expected key=value", whole.substr(at, word_end - at)));
        const bool quoted = equals + 1 < whole.size() && whole[equals + 1] == '"';
        const std::size_t first = equals + 1 + quoted;
        const std::size_t last = quoted ? whole.find('"', first)
                                        : std::min(whole.find_first_of(space, first), whole.size());
        if (last == std::string_view::npos)
            throw argument_error(
                fmt::format("options: {}=\" has no end", whole.substr(at, equals - at)));
        all.push_back({whole.substr(at, equals - at), whole.substr(first, last - first)});
        if (quoted && last + 1 < whole.size() &&
            space.find(whole[last + 1]) == std::string_view::npos)
            throw argument_error(fmt::format("options: {}: something follows its end",
                                             whole.substr(at, last + 1 - at)));
        at = whole.find_first_not_of(space, last + quoted);
    }
    return all;
}

void refuse_key(const given& g, const std::string& known) {
    throw argument_error(
        fmt::format("options: no key is called '{}', expected one of {}", g.key, known));
}

}  // namespace nz::c
