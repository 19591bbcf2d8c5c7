#include "nonzero/core/pages.hpp"

#include <algorithm>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

// Nothing else is in this file: a test that defines these functions itself links in place of it
// (test/fences.cpp).

namespace nz {
namespace {
constexpr std::size_t cache_line = 64;
// Random gathers of x miss the TLB on 4 KB pages: vectors and matrices of this size and more are
// aligned to 2 MB and asked for in huge pages.
constexpr std::size_t huge_page = std::size_t(2) << 20;
}  // namespace

void* page_allocator<void>::allocate(std::size_t bytes) {
    const std::size_t alignment = bytes >= huge_page ? huge_page : cache_line;
    if (bytes > std::size_t(-1) - alignment) throw std::bad_alloc();
    const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
    void* at = std::aligned_alloc(alignment, std::max(rounded, cache_line));
    if (at == nullptr) throw std::bad_alloc();
#if defined(__linux__)
    if (alignment == huge_page) madvise(at, rounded, MADV_HUGEPAGE);
#endif
    return at;
}

void page_allocator<void>::release(void* at, std::size_t) noexcept { std::free(at); }

}  // namespace nz
