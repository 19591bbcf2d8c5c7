#include "nonzero/plan/cache_file.hpp"

#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "nonzero/io/atomic_file.hpp"

namespace nz {

namespace fs = std::filesystem;
using nlohmann::json;

std::string cache_path(const std::string& stem) {
    const char* const cache = std::getenv("XDG_CACHE_HOME");
    const char* const home = std::getenv("HOME");
    const bool given = cache != nullptr && *cache != '\0';
    if (!given && (home == nullptr || *home == '\0')) return {};
    std::string name = stem;
    for (char& c : name)
        if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-') c = '_';
    const fs::path folder = given ? fs::path(cache) : fs::path(home) / ".cache";
    return folder / "nonzero" / (name + "-" NZ_VERSION ".json");
}

json load_kept(const std::string& path, const json& key) {
    std::ifstream file(path);
    json j = json::parse(file, nullptr, /*allow_exceptions=*/false);
    if (!j.is_object() || !j.contains("key") || !j.contains("kept") || j["key"] != key) return {};
    return std::move(j["kept"]);
}

void keep(const std::string& path, const json& key, const json& what) {
    std::error_code ignored;  // the file below says what is wrong
    fs::create_directories(fs::path(path).parent_path(), ignored);
    atomic_file file(path);
    file.write(json{{"key", key}, {"kept", what}}.dump(1) + "\n");
    file.commit();
}

}  // namespace nz
