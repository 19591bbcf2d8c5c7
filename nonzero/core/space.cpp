#include "nonzero/core/space.hpp"

#include <algorithm>
#include <cstdlib>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace nz {
namespace {
constexpr std::size_t cache_line = 64;
// Random gathers of x miss the TLB on 4 KB pages: vectors and matrices of this size and more are
// aligned to 2 MB and asked for in huge pages.
constexpr std::size_t huge_page = std::size_t(2) << 20;
}  // namespace

void* allocate_pages(std::size_t bytes) {
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

void release_pages(void* at, std::size_t) noexcept { std::free(at); }

offset_vector::offset_vector(std::span<const offset> p) {
    const bool fits =
        std::all_of(p.begin(), p.end(), [](offset v) { return v >= 0 && v <= max_narrow_offset; });
    if (!fits) {
        wide_.assign(p.begin(), p.end());
        return;
    }
    narrow_.resize(p.size());
    std::transform(p.begin(), p.end(), narrow_.begin(), [](offset v) { return std::int32_t(v); });
}

offset_vector offset_vector::wide(host_vector<offset> p) {
    offset_vector v;
    v.wide_ = std::move(p);
    return v;
}

bool operator==(const offset_vector& a, const offset_vector& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t k = 0; k < a.size(); ++k)
        if (a[k] != b[k]) return false;
    return true;
}

}  // namespace nz
