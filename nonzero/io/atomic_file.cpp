#include "nonzero/io/atomic_file.hpp"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstring>
#include <utility>

#include "nonzero/core/error.hpp"

namespace nz {
namespace {

/// A temporary file that is there. A signal handler may read it at any time, in any thread: so it
/// is no std::string, and is filled before it has an owner.
struct unfinished {
    std::atomic<pid_t> owner;  ///< 0: free; filling: not to be read yet. A fork's child owns none.
    char path[PATH_MAX];
};
constexpr pid_t filling = -1;
constexpr int most_unfinished = 64;
unfinished files[most_unfinished];
static_assert(std::atomic<pid_t>::is_always_lock_free, "read by a signal handler");

/// The number in the list; most_unfinished where it is full, or the path too long.
int enlist(const std::string& path) {
    if (path.size() >= PATH_MAX) return most_unfinished;
    for (int k = 0; k < most_unfinished; ++k) {
        pid_t nobody = 0;
        if (!files[k].owner.compare_exchange_strong(nobody, filling)) continue;
        path.copy(files[k].path, path.size());
        files[k].path[path.size()] = '\0';
        files[k].owner = ::getpid();
        return k;
    }
    return most_unfinished;
}

void strike(int slot) {
    if (slot < most_unfinished) files[slot].owner = 0;
}

}  // namespace

void remove_unfinished_files() noexcept {
    for (const unfinished& f : files)
        if (f.owner == ::getpid()) ::unlink(f.path);
}

atomic_file::atomic_file(std::string path) : path_(std::move(path)), slot_(most_unfinished) {
    if (path_ == "-") {
        std::fflush(stdout);
        fd_ = ::dup(STDOUT_FILENO);
        if (fd_ < 0) fail();
        return;
    }
    struct stat existing {};
    if (::stat(path_.c_str(), &existing) == 0 && !S_ISREG(existing.st_mode))
        throw error(path_ + ": cannot write: not an ordinary file");
    static std::atomic<unsigned> count = 0;
    do {
        temporary_ = fmt::format("{}.{}.{}.part", path_, ::getpid(), count++);
        slot_ = enlist(temporary_);  // first, so that no signal comes between
        fd_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (fd_ < 0) strike(slot_);
    } while (fd_ < 0 && errno == EEXIST);
    if (fd_ < 0) fail();
}

atomic_file::~atomic_file() {
    if (fd_ < 0) return;
    ::close(fd_);
    if (temporary_.empty()) return;
    ::unlink(temporary_.c_str());
    strike(slot_);
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
    if (temporary_.empty()) {
        if (!whole) fail();
        return;
    }
    const bool done = whole && std::rename(temporary_.c_str(), path_.c_str()) == 0;
    const int reason = errno;
    if (!done) ::unlink(temporary_.c_str());
    strike(slot_);
    errno = reason;
    if (!done) fail();
}

void atomic_file::fail() const {
    throw error(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
}

}  // namespace nz
