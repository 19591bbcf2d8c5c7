#include "cli/report.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "cli/conditions/gpu_clocks.hpp"
#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"
#include "nonzero/core/json.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/io/file_formats.hpp"
#include "nonzero/io/io.hpp"
#include "nonzero/plan/kept_speeds.hpp"
#include "nonzero/plan/machine.hpp"
#include "nonzero_commit.hpp"

namespace nz::cli {
json_file::json_file(const std::string& path) : is_stdout_(path == "-") {
    if (path.empty() || is_stdout_) return;
    if (!path.ends_with(".json"))
        throw argument_error("--json: expected - or a name that ends in .json, not '" + path + "'");
    file_ = std::make_unique<atomic_file>(path);
}

void json_file::write(const nz::json& j) {
    const std::string text = j.dump(1) + "\n";
    if (is_stdout_) std::fputs(text.c_str(), stdout);
    if (file_ == nullptr) return;
    file_->write(text);
    file_->commit();
}

void expect_writable(const std::string& path, std::span<const std::string_view> endings) {
    if (path.empty()) return;
    if (path == "-") return;
    const auto ends = [&](std::string_view ending) { return path.ends_with(ending); };
    if (std::none_of(endings.begin(), endings.end(), ends))
        throw argument_error(fmt::format("{} ends in none of {}", path, fmt::join(endings, ", ")));
    const atomic_file probe(path);  // which its destructor removes again
}

void expect_one_to_stdout(std::initializer_list<std::string_view> paths) {
    if (std::count(paths.begin(), paths.end(), "-") > 1)
        throw argument_error("--json and --output: only one of them to stdout");
}

std::exception_ptr fault_of(const std::function<void()>& write) {
    try {
        write();
        return nullptr;
    } catch (const error&) {
        return std::current_exception();
    }
}

void throw_if(const std::exception_ptr& fault) {
    if (fault != nullptr) std::rethrow_exception(fault);
}

nz::json provenance(const std::string& command, bool on_gpu) {
    const machine_info m = describe_machine();
    const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
#if defined(__clang__)
    const char* const compiler = "clang " __clang_version__;
#else
    const char* const compiler = "g++ " __VERSION__;
#endif
    nz::json j = {{"command", command},
                  {"nz", NZ_VERSION},
                  {"commit", nullptr},
                  {"dirty", nullptr},
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
    if (*built_commit != '\0') j["commit"] = built_commit, j["dirty"] = built_dirty;
    if (on_gpu) j["gpu"] = gpu_json(describe_gpu(gpu{}));
    return j;
}

nz::json gpu_json(const gpu_info& g) {
    nz::json j = machine_key(g);
    if (const auto c = read_gpu_clocks()) {
        j["driver"] = c->driver;
        j["clocks"] = {{"sm_mhz", c->sm_mhz},
                       {"memory_mhz", c->memory_mhz},
                       {"max_sm_mhz", c->max_sm_mhz},
                       {"max_memory_mhz", c->max_memory_mhz}};
    }
    return j;
}

std::string matrix_name(const std::string& path) {
    std::string name = std::filesystem::path(path).filename();
    const auto strip = [&](std::string_view ending) {
        if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    };
    strip(".gz");
    for (const file_format& f : file_formats())
        for (const std::string_view ending : f.endings) strip(ending);
    return name;
}

std::string quoted(const std::string& path) {
    const auto plain = [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
               std::string_view("/._-+,:@%=").find(c) != std::string_view::npos;
    };
    if (!path.empty() && std::all_of(path.begin(), path.end(), plain)) return path;
    std::string text = "'";
    for (const char c : path) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return text + "'";
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
