// Where the memory of arrays on the CPU comes from.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "nonzero/core/cpp20.hpp"

namespace nz {

template <class T>
struct page_allocator;
/// Memory of no type, cache-line aligned.
template <>
struct page_allocator<void> {
    static void* allocate(std::size_t bytes);  ///< throws std::bad_alloc
    static void release(void* at, std::size_t bytes) noexcept;
};
/// Allocates cache-line aligned memory, in huge pages where that pays, and leaves new elements
/// of trivial types uninitialised: `host_vector<V> v(n)` is filled by the thread that computes it,
/// so that no page is touched twice. Write `v.assign(n, 0)` where zeros are meant.
template <class T>
struct page_allocator {
    using value_type = T;
    page_allocator() = default;
    template <class U>
    page_allocator(const page_allocator<U>&) {}

    T* allocate(std::size_t n) {
        if (n > std::size_t(-1) / sizeof(T)) throw std::bad_array_new_length();
        return static_cast<T*>(page_allocator<void>::allocate(n * sizeof(T)));
    }
    void deallocate(T* at, std::size_t n) noexcept {
        page_allocator<void>::release(at, n * sizeof(T));
    }
    template <class U, class... Args>
    void construct(U* at, Args&&... args) {
        ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
    }
    template <class U>
    void construct(U* at) {
        if constexpr (!std::is_trivially_copyable_v<U>) ::new (static_cast<void*>(at)) U;
    }
    friend bool operator==(const page_allocator&, const page_allocator&) { return true; }
};

}  // namespace nz
