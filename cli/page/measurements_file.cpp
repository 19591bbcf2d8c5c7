#include "cli/page/measurements_file.hpp"

#include <fmt/core.h>

#include <fstream>
#include <set>

#include "nonzero/core/error.hpp"

namespace nz::cli {
namespace {

std::string text_at(const json& j, const char* key) {
    const json* const at = j.find(key);
    return at != nullptr && at->is_text() ? at->text() : "";
}

bool is_array_of_objects(const json& j, const char* key) {
    if (!j.contains(key) || !j[key].is_array()) return false;
    for (const json& row : j[key])
        if (!row.is_object()) return false;
    return true;
}

/// The fault in it; empty where there is none.
std::string what_is_wrong_in(const json& j) {
    const std::string command = text_at(j, "command");
    if (command != "study" && command != "bench" && command != "report")
        return fmt::format("expected the JSON of nz study, nz bench or nz report{}",
                           command.empty() ? "" : ", not of nz " + command);
    const char* const results = command == "bench" ? "rows" : "results";
    for (const char* list : {"matrices", results})
        if (!is_array_of_objects(j, list)) return fmt::format("'{}' is no list of objects", list);
    std::set<std::string> names;
    for (const json& A : j["matrices"]) {
        const std::string name = text_at(A, "name");
        if (name.empty()) return "a matrix has no name";
        if (!names.insert(name).second) return fmt::format("two matrices are named '{}'", name);
    }
    for (const json& row : j[results]) {
        if (names.count(text_at(row, "matrix")) == 0) return "a result is of none of the matrices";
        if (text_at(row, "method").empty()) return "a result has no method";
        if (!row.contains("threads") || !row["threads"].is_whole())
            return "a result has no number of threads";
    }
    return {};
}

}  // namespace

json read_measurements(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw parse_error(path, 0, "cannot be opened");
    constexpr int deepest = 8;  // no command writes deeper; and writing it out again recurses
    const std::string text(std::istreambuf_iterator<char>(file), {});
    auto data = json::parse(text, deepest, "block_s");
    if (!data) throw parse_error(path, 0, "is no JSON");
    const std::string fault = what_is_wrong_in(*data);
    if (!fault.empty()) throw parse_error(path, 0, fault);
    return std::move(*data);
}

}  // namespace nz::cli
