// Linked into tests in place of nonzero/core/pages.cpp and of the operators new.
#include "test/watched_memory.hpp"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <limits>
#include <new>

#include "nonzero/core/pages.hpp"

namespace nz {
namespace {

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max() / 2;
std::atomic<std::int64_t> left = never;  ///< requests until one fails
std::atomic<bool> stays_out = false, failed = false;
std::atomic<std::int64_t> held = 0;
std::atomic<std::int64_t> bytes_held = 0, most_bytes = 0, bytes_before = 0;

void note(void* at, std::int64_t change) {
    held += change;
    const std::int64_t now = bytes_held += change * std::int64_t(malloc_usable_size(at));
    std::int64_t most = most_bytes;
    while (now > most && !most_bytes.compare_exchange_weak(most, now)) continue;
}

void* request(std::size_t bytes, std::size_t alignment) {
    const std::int64_t before = left.fetch_sub(1);
    if (before == 1 || (before < 1 && stays_out)) {
        failed = true;
        return nullptr;
    }
    const std::size_t least = std::max(alignment, sizeof(void*));
    void* const at =
        std::aligned_alloc(least, (std::max<std::size_t>(bytes, 1) + least - 1) / least * least);
    if (at != nullptr) note(at, 1);
    return at;
}
void* request_or_throw(std::size_t bytes, std::size_t alignment) {
    void* const at = request(bytes, alignment);
    if (at == nullptr) throw std::bad_alloc();
    return at;
}
void give_back(void* at) {
    if (at != nullptr) note(at, -1);
    std::free(at);
}

constexpr std::size_t usual = alignof(std::max_align_t);

}  // namespace

void* page_allocator<void>::allocate(std::size_t bytes) { return request_or_throw(bytes, 64); }
void page_allocator<void>::release(void* at, std::size_t) noexcept { give_back(at); }

namespace test {

void fail_memory(std::int64_t n, failing how) {
    failed = false;
    stays_out = how == failing::from_then_on;
    left = n;
}
bool restore_memory() {
    left = never;
    return failed;
}
std::int64_t pieces_held() { return held; }

std::int64_t most_bytes_held() {
    const std::int64_t now = bytes_held;
    return most_bytes.exchange(now) - bytes_before.exchange(now);
}

}  // namespace test
}  // namespace nz

void* operator new(std::size_t n) { return nz::request_or_throw(n, nz::usual); }
void* operator new[](std::size_t n) { return nz::request_or_throw(n, nz::usual); }
void* operator new(std::size_t n, std::align_val_t a) {
    return nz::request_or_throw(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a) {
    return nz::request_or_throw(n, std::size_t(a));
}
void* operator new(std::size_t n, const std::nothrow_t&) noexcept {
    return nz::request(n, nz::usual);
}
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept {
    return nz::request(n, nz::usual);
}
void operator delete(void* at) noexcept { nz::give_back(at); }
void operator delete[](void* at) noexcept { nz::give_back(at); }
void operator delete(void* at, std::size_t) noexcept { nz::give_back(at); }
void operator delete[](void* at, std::size_t) noexcept { nz::give_back(at); }
void operator delete(void* at, std::align_val_t) noexcept { nz::give_back(at); }
void operator delete[](void* at, std::align_val_t) noexcept { nz::give_back(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { nz::give_back(at); }
void operator delete[](void* at, std::size_t, std::align_val_t) noexcept { nz::give_back(at); }
void operator delete(void* at, const std::nothrow_t&) noexcept { nz::give_back(at); }
void operator delete[](void* at, const std::nothrow_t&) noexcept { nz::give_back(at); }
