#include "nonzero/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "nonzero/core/error.hpp"

namespace nz {

atomic_file::atomic_file(std::string path) : path_(std::move(path)) {
    static std::atomic<unsigned> count = 0;
    do {
        temporary_ = fmt::format("{}.{}.{}.part", path_, ::getpid(), count++);
        fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) fail();
}

atomic_file::~atomic_file() {
    if (fd_ < 0) return;
    ::close(fd_);
    ::unlink(temporary_.c_str());
}

void atomic_file::write(std::span<const char> bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) fail();
        bytes = bytes.subspan(std::size_t(n));
    }
}

void atomic_file::commit() {
    const bool whole = ::close(std::exchange(fd_, -1)) == 0;
    if (whole && std::rename(temporary_.c_str(), path_.c_str()) == 0) return;
    const int reason = errno;
    ::unlink(temporary_.c_str());
    errno = reason;
    fail();
}

void atomic_file::fail() const {
    throw error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
}

}  // namespace nz
