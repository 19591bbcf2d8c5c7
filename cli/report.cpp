#include "cli/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "nonzero/core/backend.hpp"
#include "nonzero/plan/machine.hpp"

namespace nz::cli {
namespace {

device_error cannot_write(const std::string& path) {
    return device_error(path + ": cannot be written: " + std::strerror(errno));
}

}  // namespace

json_file::json_file(std::string path) : path_(std::move(path)) {
    if (!wanted() || is_stdout()) return;
    if (!path_.ends_with(".json"))
        throw argument_error("--json: expected - or a name that ends in .json, not '" + path_ +
                             "'");
    const std::string beside = path_ + ".partial";
    if (!std::ofstream(beside)) throw cannot_write(beside);
    beside_ = beside;
}

json_file::~json_file() {
    std::error_code ignored;  // a file that is already renamed
    if (!beside_.empty()) std::filesystem::remove(beside_, ignored);
}

void json_file::write(const nlohmann::json& j) {
    if (!wanted()) return;
    if (is_stdout()) {
        fmt::print("{}\n", j.dump(1));
        return;
    }
    std::ofstream file(beside_);
    file << j.dump(1) << '\n';
    file.close();
    if (!file || std::rename(beside_.c_str(), path_.c_str()) != 0) throw cannot_write(path_);
}

nlohmann::json provenance(const std::string& command) {
    const machine_info m = describe_machine();
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
#if defined(__clang__)
    const char* const compiler = "clang " __clang_version__;
#else
    const char* const compiler = "g++ " __VERSION__;
#endif
    return {{"command", command},
            {"nz", NZ_VERSION},
            {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now))},
            {"compiler", compiler},
            {"flags", NZ_COMPILER_FLAGS},
            {"machine",
             {{"cpu", m.cpu},
              {"cores", m.cores},
              {"l1d_bytes", m.l1d_bytes},
              {"l2_bytes", m.l2_bytes},
              {"l3_bytes", m.l3_bytes},
              {"memory_bytes", m.memory_bytes},
              {"simd", m.simd}}}};
}

std::string matrix_name(const std::string& path) {
    std::string name = std::filesystem::path(path).filename();
    for (const char* ending : {".gz", ".mtx", ".npz"})
        if (name.ends_with(ending)) name.resize(name.size() - std::string_view(ending).size());
    return name;
}

std::vector<int> parse_threads(const std::string& list) {
    std::vector<int> threads;
    const char* at = list.data();
    const char* const end = at + list.size();
    for (;; ++at) {
        int n = 0;
        const auto [next, fault] = std::from_chars(at, end, n);
        if (fault != std::errc() || n < 1 || n > max_threads || (next != end && *next != ','))
            throw argument_error(
                fmt::format("--threads: expected numbers from 1 to {} as in 1,2,4, not '{}'",
                            max_threads, list));
        if (std::find(threads.begin(), threads.end(), n) == threads.end()) threads.push_back(n);
        if ((at = next) == end) return threads;
    }
}

}  // namespace nz::cli
