#include "nonzero/io/standard_input.hpp"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

[[noreturn]] void fail_to_keep() {
    throw error(fmt::format("-: standard input cannot be kept: {}", std::strerror(errno)));
}

void write_all(int fd, const char* at, std::size_t n) {
    while (n > 0) {
        const ssize_t put = ::write(fd, at, n);
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) fail_to_keep();
        at += put, n -= std::size_t(put);
    }
}

/// Copies standard input into a file without a name, which is gone with the process.
std::string kept_input() {
    std::string name = std::filesystem::temp_directory_path() / "nonzero-stdin-XXXXXX";
    const int fd = ::mkstemp(name.data());
    if (fd < 0) fail_to_keep();
    ::unlink(name.c_str());
    std::vector<char> buffer(std::size_t(1) << 20);
    for (;;) {
        const ssize_t got = ::read(STDIN_FILENO, buffer.data(), buffer.size());
        if (got < 0 && errno == EINTR) continue;
        if (got < 0)
            throw parse_error("-", 0, fmt::format("cannot read: {}", std::strerror(errno)));
        if (got == 0) break;
        write_all(fd, buffer.data(), std::size_t(got));
    }
    return fmt::format("/proc/self/fd/{}", fd);
}

}  // namespace

std::string place_of(const std::string& path) {
    if (path != "-") return path;
    static const std::string kept = kept_input();
    return kept;
}

}  // namespace nz
