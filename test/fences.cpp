// Linked into the tests of formats, in place of nonzero/core/pages.cpp, unless a sanitizer watches
// memory: every host_vector ends where a page begins that must not be touched, so that a kernel
// that reads or writes behind an array crashes. New elements are all ones, which no test can take
// for zeros.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <vector>

#include "nonzero/core/space.hpp"

namespace nz {
namespace {

std::size_t page_bytes() {
    static const auto bytes = std::size_t(sysconf(_SC_PAGESIZE));
    return bytes;
}
std::size_t whole_pages(std::size_t bytes) {
    return (bytes + page_bytes() - 1) / page_bytes() * page_bytes();
}

/// Pages with a fence behind them, kept when released: the tests ask for millions of small ones.
class fenced_pages {
  public:
    std::byte* take(std::size_t inside) {
        {
            const std::lock_guard lock(mutex_);
            if (auto& kept = free_[inside]; !kept.empty()) {
                std::byte* const at = kept.back();
                kept.pop_back();
                return at;
            }
        }
        void* const at = mmap(nullptr, inside + page_bytes(), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (at == MAP_FAILED) throw std::bad_alloc();
        if (mprotect(static_cast<std::byte*>(at) + inside, page_bytes(), PROT_NONE) != 0)
            throw std::bad_alloc();
        return static_cast<std::byte*>(at);
    }
    void give_back(std::byte* at, std::size_t inside) {
        const std::lock_guard lock(mutex_);
        free_[inside].push_back(at);
    }
    static fenced_pages& all() {
        static auto* const pages = new fenced_pages;  // outlives every static array
        return *pages;
    }

  private:
    std::mutex mutex_;
    std::map<std::size_t, std::vector<std::byte*>> free_;  ///< by bytes before the fence
};

}  // namespace

void* page_allocator<void>::allocate(std::size_t bytes) {
    if (bytes > std::size_t(-1) / 2) throw std::bad_alloc();
    const std::size_t inside = whole_pages(bytes);
    return std::memset(fenced_pages::all().take(inside) + (inside - bytes), 0xff, bytes);
}

void page_allocator<void>::release(void* at, std::size_t bytes) noexcept {
    const std::size_t inside = whole_pages(bytes);
    fenced_pages::all().give_back(static_cast<std::byte*>(at) - (inside - bytes), inside);
}

namespace test {
namespace {

TEST(fences, stand_behind_every_array) {
    std::array<int, 2> pipe_ends{};
    ASSERT_EQ(pipe(pipe_ends.data()), 0);
    for (const std::size_t n : {1U, 3U, 1000U, 1024U, 5000U}) {
        const host_vector<float> v(n);
        EXPECT_EQ(write(pipe_ends[1], v.data() + n - 1, sizeof(float)), sizeof(float)) << n;
        EXPECT_EQ(write(pipe_ends[1], v.data() + n, 1), -1) << n;
        EXPECT_EQ(errno, EFAULT) << n;
    }
    for (const int end : pipe_ends) close(end);
}

}  // namespace
}  // namespace test
}  // namespace nz
