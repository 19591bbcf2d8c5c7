#include "nonzero/core/json.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nz {

json::json() = default;
json::json(std::string text) : value_(std::move(text)) {}
json::json(std::string_view text) : value_(std::string(text)) {}
json::json(const char* text) : value_(std::string(text)) {}
void json::set(bool x) { value_ = scalar(x); }
void json::set(std::int64_t x) { value_ = scalar(x); }
void json::set(std::uint64_t x) { value_ = scalar(x); }
void json::set(double x) { value_ = scalar(x); }
json::json(std::initializer_list<member> object) : json(json::object()) {
    for (const member& m : object)
        if (!contains(m.key)) (*this)[m.key] = m.value;
}
json::json(const json&) = default;
json::json(json&&) noexcept = default;
json& json::operator=(const json&) = default;
json& json::operator=(json&&) noexcept = default;
json::~json() = default;

json::member::member(std::string_view name, json x) : key(name), value(std::move(x)) {}
json::member::member(const member&) = default;
json::member::member(member&&) noexcept = default;
json::member& json::member::operator=(const member&) = default;
json::member& json::member::operator=(member&&) noexcept = default;
json::member::~member() = default;
bool json::member::operator==(const member&) const = default;

json json::array(std::initializer_list<json> all) {
    json j;
    j.value_ = std::vector<json>(all);
    return j;
}

json json::object() {
    json j;
    j.value_ = std::vector<member>();
    return j;
}

namespace {

template <class T, class Variant>
auto& held(Variant& value, const char* what) {
    if (auto* x = std::get_if<T>(&value)) return *x;
    throw json::exception(std::string("JSON: expected ") + what);
}

}  // namespace

void json::push_back(json x) {
    if (is_null()) *this = array();
    elements().push_back(std::move(x));
}

json& json::operator[](std::string_view key) {
    if (is_null()) *this = object();
    auto& all = held<std::vector<member>>(value_, "an object");
    const auto at =
        std::find_if(all.begin(), all.end(), [&](const member& m) { return m.key == key; });
    if (at != all.end()) return at->value;
    return all.emplace_back(key, json()).value;
}

const json& json::at(std::string_view key) const {
    if (const json* found = find(key)) return *found;
    throw exception("JSON: no member '" + std::string(key) + "'");
}

void json::update(const json& object) {
    for (const member& m : object.members()) (*this)[m.key] = m.value;
}

bool json::is_null() const { return std::holds_alternative<std::monostate>(value_); }
bool json::is_object() const { return std::holds_alternative<std::vector<member>>(value_); }
bool json::is_array() const { return std::holds_alternative<std::vector<json>>(value_); }
bool json::is_text() const { return std::holds_alternative<std::string>(value_); }
bool json::is_whole() const {
    const auto* x = std::get_if<scalar>(&value_);
    return x != nullptr &&
           (std::holds_alternative<std::int64_t>(*x) || std::holds_alternative<std::uint64_t>(*x));
}

const json* json::find(std::string_view key) const {
    if (!is_object()) return nullptr;
    for (const member& m : members())
        if (m.key == key) return &m.value;
    return nullptr;
}

double json::number() const {
    const auto& x = held<scalar>(value_, "a number");
    if (std::holds_alternative<bool>(x)) throw exception("JSON: expected a number");
    return std::visit([](auto v) { return double(v); }, x);
}

std::int64_t json::whole() const {
    if (!is_whole()) throw exception("JSON: expected a whole number");
    return std::visit([](auto v) { return std::int64_t(v); }, std::get<scalar>(value_));
}

const std::string& json::text() const { return held<std::string>(value_, "a text"); }
std::vector<json>& json::elements() { return held<std::vector<json>>(value_, "an array"); }
const std::vector<json>& json::elements() const {
    return held<std::vector<json>>(value_, "an array");
}
const std::vector<json::member>& json::members() const {
    return held<std::vector<member>>(value_, "an object");
}

bool operator==(const json& a, const json& b) { return a.value_ == b.value_; }

/// Between a value and the library's.
struct json_reader {
    static nlohmann::json written(const json& j) {
        if (const auto* x = std::get_if<json::scalar>(&j.value_))
            return std::visit([](auto v) { return nlohmann::json(v); }, *x);
        if (j.is_text()) return j.text();
        if (j.is_array()) {
            auto all = nlohmann::json::array();
            for (const json& x : j.elements()) all.push_back(written(x));
            return all;
        }
        if (j.is_null()) return nullptr;
        auto all = nlohmann::json::object();
        for (const auto& [key, value] : j.members()) all[key] = written(value);
        return all;
    }
    static json read(const nlohmann::json& j) {
        if (j.is_boolean()) return j.get<bool>();
        if (j.is_number_unsigned()) return j.get<std::uint64_t>();
        if (j.is_number_integer()) return j.get<std::int64_t>();
        if (j.is_number_float()) return j.get<double>();
        if (j.is_string()) return j.get<std::string>();
        json all = j.is_array() ? json::array() : j.is_object() ? json::object() : json();
        if (j.is_array())
            for (const auto& x : j) all.push_back(read(x));
        if (j.is_object())
            for (const auto& [key, value] : j.items()) all[key] = read(value);
        return all;
    }
};

std::string json::dump(int indent) const {
    return json_reader::written(*this).dump(indent, ' ', false,
                                            nlohmann::json::error_handler_t::replace);
}

std::optional<json> json::parse(const std::string& text, int deepest, std::string_view left_out) {
    using event = nlohmann::json::parse_event_t;
    const auto wanted = [&](int depth, event e, const nlohmann::json& parsed) {
        return depth <= deepest &&
               !(e == event::key && parsed.get_ref<const std::string&>() == left_out);
    };
    const nlohmann::json j = nlohmann::json::parse(text, wanted, /*allow_exceptions=*/false);
    if (j.is_discarded()) return {};
    return json_reader::read(j);
}

}  // namespace nz
