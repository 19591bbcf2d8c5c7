#include "amgx/configuration.hpp"

#include <charconv>
#include <fstream>
#include <iterator>

#include "amgx/failure.hpp"
#include "amgx/keys.hpp"
#include "nonzero/core/json.hpp"

namespace nz::amgx {
namespace {

const std::string outer = "default";

[[noreturn]] void refuse(const std::string& why) {
    throw failure(AMGX_RC_BAD_CONFIGURATION, "configuration: " + why);
}

std::string trimmed(std::string_view s) {
    const auto first = s.find_first_not_of(" \t\r\n");
    if (first == std::string_view::npos) return {};
    return std::string(s.substr(first, s.find_last_not_of(" \t\r\n") - first + 1));
}

template <class T>
bool reads_as(const std::string& value) {
    T number{};
    const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), number);
    return fault == std::errc{} && end == value.data() + value.size();
}

/// Numbers that would change what is computed, and are not served.
void check_number(const key& k, const std::string& value) {
    const double number = std::stod(value);
    const auto expect = [&](bool holds, const char* what) {
        if (!holds) refuse(fmt::format("{}={}: expected {}", k.name, value, what));
    };
    if (k.name == "config_version") expect(number == 1 || number == 2, "1 or 2");
    if (k.name == "complex_conversion") expect(number == 0, "0");
    if (k.name == "block_convert") expect(number == 0 || number == 1, "0 or 1");
    if (k.name == "relaxation_factor") expect(number >= 0 && number <= 2, "0 to 2");
    if (k.name == "max_iters" || k.name == "tolerance" || k.name == "alt_rel_tolerance")
        expect(number >= 0, "0 or more");
    if (k.name == "gmres_n_restart") expect(number >= 1, "1 or more");
}

const key& known(const std::string& name) {
    const key* const k = find_key(name);
    if (k == nullptr) refuse("there is no key " + name);
    return *k;
}

void check_value(const key& k, const std::string& value) {
    const bool is_number = k.type == key_type::whole || k.type == key_type::real;
    if (k.type == key_type::whole && !reads_as<long long>(value))
        refuse(fmt::format("{}={}: expected a whole number", k.name, value));
    if (k.type == key_type::real && !reads_as<double>(value))
        refuse(fmt::format("{}={}: expected a number", k.name, value));
    if (is_number) return check_number(k, value);
    if (!k.values.empty() && k.values.find("|" + value + "|") == std::string_view::npos)
        refuse(fmt::format("{}={}: expected one of {}", k.name, value,
                           k.values.substr(1, k.values.size() - 2)));
}

/// The names that version 1 had.
void modernize(std::string& name, std::string& value) {
    if (name == "smoother_weight") name = "relaxation_factor";
    if (name == "min_block_rows") name = "min_coarse_rows";
    if (value == "JACOBI" || value == "JACOBI_NO_CUSP") value = "BLOCK_JACOBI";
}

std::string text_of(const std::string& name, const json& value) {
    if (value.is_text()) return trimmed(value.text());
    if (value.is_object() || value.is_array() || value.is_null())
        refuse(name + ": expected a number or a text");
    const std::string text = value.dump();
    if (text == "true") return "1";
    return text == "false" ? "0" : text;
}

}  // namespace

void configuration::set(const std::string& scope, const std::string& name, entry e) {
    std::string modern = name;
    modernize(modern, e.value);
    const key& k = known(modern);
    check_value(k, e.value);
    if (!e.its_scope.empty() && k.type != key_type::solver)
        refuse(name + ": only a solver has a scope of its own");
    entries_[{scope, modern}] = std::move(e);
}

const configuration::entry* configuration::find(const std::string& scope,
                                                const std::string& key) const {
    auto at = entries_.find({scope, key});
    if (at == entries_.end()) at = entries_.find({outer, key});
    return at == entries_.end() ? nullptr : &at->second;
}

void configuration::add(const std::string& text, bool lines) {
    configuration with = *this;
    if (trimmed(text).starts_with('{'))
        with.add_json(text);
    else
        with.add_pairs(text, lines);
    *this = std::move(with);
}

void configuration::add_file(const char* path) {
    std::ifstream file(path, std::ios::binary);
    const std::string text(std::istreambuf_iterator<char>(file), {});
    if (!file) throw failure(AMGX_RC_IO_ERROR, fmt::format("{}: cannot be read", path));
    add(text, true);
}

void configuration::add_pairs(const std::string& text, bool lines) {
    const char* const ends = lines ? ",;\n" : ",;";
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find_first_of(ends, at), text.size());
        const std::string pair = trimmed(text.substr(at, end - at));
        at = end + 1;
        if (pair.empty() || pair.front() == '#') continue;
        const std::size_t equals = pair.find('=');
        if (equals == std::string::npos) refuse(pair + ": expected key=value");
        std::string name = trimmed(pair.substr(0, equals)), scope = outer, its_scope;
        const std::string value = trimmed(pair.substr(equals + 1));
        if (const auto colon = name.find(':'); colon != std::string::npos) {
            scope = trimmed(name.substr(0, colon));
            name = trimmed(name.substr(colon + 1));
        }
        if (const auto open = name.find('('); open != std::string::npos) {
            if (name.back() != ')') refuse(name + ": expected )");
            its_scope = trimmed(name.substr(open + 1, name.size() - open - 2));
            name = trimmed(name.substr(0, open));
        }
        if (name == "config_version") version_ = value == "2" ? 2 : 1;
        if ((scope != outer || !its_scope.empty()) && version_ < 2)
            refuse(pair + ": scopes want config_version=2 first");
        set(scope, name, {value, its_scope});
    }
}

void configuration::add_json(const std::string& text) {
    const auto parsed = json::parse(text, 64);
    if (!parsed || !parsed->is_object()) refuse("this is no JSON object");
    add_object(*parsed, outer, true);
}

template <class Json>
void configuration::add_object(const Json& object, const std::string& scope, bool is_outer) {
    std::string here = scope;
    if (const Json* const given = object.find("scope"); given != nullptr && is_outer)
        here = text_of("scope", *given);
    for (const auto& [name, value] : object.members()) {
        if (name == "scope" || (name == "solver" && !is_outer)) continue;
        if (!value.is_object()) {
            set(here, name, {text_of(name, value), {}});
            continue;
        }
        if (known(name).type != key_type::solver)
            refuse(name + ": expected a value, not an object");
        const Json* const solver = value.find("solver");
        if (solver == nullptr) refuse(name + ": its object names no solver");
        const Json* const given = value.find("scope");
        const std::string inner = given ? text_of("scope", *given) : here + "_sub_" + name;
        set(here, name, {text_of("solver", *solver), inner});
        add_object(value, inner, false);
    }
}

}  // namespace nz::amgx
