#include "nonzero/plan/cache/cache_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>

#include "nonzero/io/atomic_file.hpp"
#include "nonzero_commit.hpp"

namespace nz {

namespace fs = std::filesystem;

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

namespace {

/// Goes up by one whenever a layout, a kernel's cost or what these files say changes: what was
/// measured before says nothing then.
constexpr int layouts = 4;

/// Who wrote the file. Without git (a release's archive) the commit is empty.
json this_build() {
    const std::string commit = std::string(built_commit) + (built_dirty ? "-dirty" : "");
    return {{"nz", NZ_VERSION}, {"commit", commit}, {"layouts", layouts}};
}

constexpr std::size_t most_bytes = 1 << 20;  // ours take some thousands

/// The bytes of an ordinary file of no more than most_bytes; else nothing. It never waits: opening
/// a pipe would, for somebody who writes.
std::string text_of(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0) return {};
    std::string text;
    struct stat what {};
    if (::fstat(fd, &what) == 0 && S_ISREG(what.st_mode) && what.st_size <= off_t(most_bytes)) {
        text.resize(std::size_t(what.st_size));
        const ssize_t n = ::read(fd, text.data(), text.size());
        text.resize(std::size_t(std::max<ssize_t>(n, 0)));  // what is cut short is no JSON
    }
    ::close(fd);
    return text;
}

}  // namespace

json load_kept(const std::string& path, const json& key) {
    std::optional<json> j = json::parse(text_of(path));
    if (!j || !j->contains("build") || !j->contains("key") || !j->contains("kept")) return {};
    // As text, in which what was read and what was not are alike.
    if (j->at("build").dump() != this_build().dump() || j->at("key").dump() != key.dump())
        return {};
    return std::move((*j)["kept"]);
}

void keep(const std::string& path, const json& key, const json& what) {
    std::error_code ignored;  // the file below says what is wrong
    fs::create_directories(fs::path(path).parent_path(), ignored);
    atomic_file file(path);
    const json all = {{"build", this_build()}, {"key", key}, {"kept", what}};
    file.write(all.dump(1) + "\n");
    file.commit();
}

void forget(const std::string& path) { ::unlink(path.c_str()); }

}  // namespace nz
