// The file that keeps a GPU's speeds from one run to the next.
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nonzero/core/error.hpp"
#include "nonzero/io/atomic_file.hpp"
#include "nonzero/plan/gpu_machine.hpp"

namespace nz {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

/// What the speeds depend on: others are stale.
json key_of(const gpu_info& g) {
    return {{"name", g.name},
            {"compute_capability", g.compute_capability},
            {"multiprocessors", g.multiprocessors},
            {"memory_bytes", g.memory_bytes},
            {"l2_bytes", g.l2_bytes},
            {"driver_version", g.driver_version},
            {"runtime_version", g.runtime_version},
            {"nz", NZ_VERSION}};
}

bool plausible(const gpu_speeds& s) {
    bool all = s.memory.read_gbps > 0 && s.memory.copy_gbps > 0 && s.launch_s > 0;
    for (const gather_rate& g : s.gathers) all = all && g.x_bytes > 0 && g.per_s > 0;
    return all && !s.gathers.empty();
}

}  // namespace

std::string gpu_cache_path(const gpu_info& g) {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const bool given = cache != nullptr && *cache != '\0';
    if (!given && (home == nullptr || *home == '\0')) return {};
    std::string name = g.name;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    const fs::path folder = given ? fs::path(cache) : fs::path(home) / ".cache";
    return folder / "nonzero" / ("machine-" + name + "-" NZ_VERSION ".json");
}

std::optional<gpu_speeds> load_gpu_speeds(const std::string& path, const gpu_info& g) {
    std::ifstream file(path);
    const json j = json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!j.is_object() || j.value("gpu", json()) != key_of(g)) return {};
    try {
        gpu_speeds s{.memory = {.read_gbps = j.at("read_gbps"), .copy_gbps = j.at("copy_gbps")},
                     .launch_s = j.at("launch_s"),
                     .gathers = {}};
        for (const json& at : j.at("gathers"))
            s.gathers.push_back({.x_bytes = at.at("x_bytes"), .per_s = at.at("per_s")});
        if (plausible(s)) return s;
    } catch (const json::exception&) {  // of the right key, and yet not ours
    }
    return {};
}

void save_gpu_speeds(const std::string& path, const gpu_info& g, const gpu_speeds& s) {
    json j = {{"gpu", key_of(g)},
              {"read_gbps", s.memory.read_gbps},
              {"copy_gbps", s.memory.copy_gbps},
              {"launch_s", s.launch_s},
              {"gathers", json::array()}};
    for (const gather_rate& at : s.gathers)
        j["gathers"].push_back({{"x_bytes", at.x_bytes}, {"per_s", at.per_s}});
    std::error_code ignored;  // the file below says what is wrong
    fs::create_directories(fs::path(path).parent_path(), ignored);
    atomic_file file(path);
    file.write(j.dump(1) + "\n");
    file.commit();
}

gpu_speeds known_gpu_speeds(gpu on, bool fresh) {
    const gpu_info g = describe_gpu(on);
    const std::string path = gpu_cache_path(g);
    if (!fresh && !path.empty())
        if (const auto known = load_gpu_speeds(path, g)) return *known;
    const gpu_speeds measured = measure_gpu(on);
    try {
        if (!path.empty()) save_gpu_speeds(path, g, measured);
    } catch (const error&) {  // measured anew next time, then
    }
    return measured;
}

}  // namespace nz
