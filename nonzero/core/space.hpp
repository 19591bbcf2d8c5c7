// Where an array lives and who owns it. Every format is one struct over a space.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "nonzero/core/pages.hpp"

namespace nz {

using index = std::int32_t;   ///< a row or column number
using offset = std::int64_t;  ///< a position among the nonzeros

/// An array in CPU memory.
template <class T>
using host_vector = std::vector<T, page_allocator<T>>;

/// Read-only GPU array. Indexing exists in device code only, so a host loop over it does not
/// compile. (std::span does not work in kernels without an experimental nvcc flag.)
template <class T>
struct device_span {
    using value_type = T;
    const T* ptr = nullptr;
    std::size_t len = 0;
    [[nodiscard]] constexpr std::size_t size() const { return len; }
    [[nodiscard]] constexpr const T* data() const { return ptr; }
#if defined(__CUDACC__)
    __device__ const T& operator[](std::size_t k) const { return ptr[k]; }
#endif
};

/// Writable GPU array, borrowed.
template <class T>
struct device_out {
    T* ptr = nullptr;
    std::size_t len = 0;
    [[nodiscard]] constexpr std::size_t size() const { return len; }
    [[nodiscard]] constexpr T* data() const { return ptr; }
    constexpr operator device_span<T>() const { return {ptr, len}; }
};

template <class T>
class device_array;     // core/device_array.hpp
struct device_offsets;  // core/device_array.hpp

/// Borrowed positions, 4 or 8 bytes each, as their owner stores them.
class offset_span {
  public:
    using value_type = offset;
    offset_span() = default;
    offset_span(std::span<const std::int32_t> p) : ptr_(p.data()), len_(p.size()), wide_(false) {}
    offset_span(std::span<const std::int64_t> p) : ptr_(p.data()), len_(p.size()), wide_(true) {}
    [[nodiscard]] std::size_t size() const { return len_; }
    [[nodiscard]] bool empty() const { return len_ == 0; }
    [[nodiscard]] bool wide() const { return wide_; }
    [[nodiscard]] std::size_t size_bytes() const { return len_ * (wide_ ? 8 : 4); }
    [[nodiscard]] const void* data() const { return ptr_; }
    offset operator[](std::size_t k) const {
        return wide_ ? static_cast<const std::int64_t*>(ptr_)[k]
                     : static_cast<const std::int32_t*>(ptr_)[k];
    }
    [[nodiscard]] offset back() const { return (*this)[len_ - 1]; }

    /// f(pointer), the pointer of the type that is stored: for loops that must not ask each time.
    template <class F>
    decltype(auto) visit(F f) const {
        return wide_ ? f(static_cast<const std::int64_t*>(ptr_))
                     : f(static_cast<const std::int32_t*>(ptr_));
    }

  private:
    const void* ptr_ = nullptr;
    std::size_t len_ = 0;
    bool wide_ = false;
};

/// Owns positions in 4 bytes each where the largest fits, in 8 where not: half the traffic of
/// row pointers on all but giant matrices.
class offset_vector {
  public:
    using value_type = offset;
    static constexpr offset max_narrow = 2147483647;  ///< the largest that fits 4 bytes
    offset_vector() = default;
    offset_vector(std::initializer_list<offset> p)
        : offset_vector(std::span(p.begin(), p.size())) {}
    offset_vector(const host_vector<offset>& p) : offset_vector(std::span(p)) {}
    explicit offset_vector(std::span<const offset> p);
    explicit offset_vector(host_vector<std::int32_t> p) : narrow_(std::move(p)) {}
    /// Keeps 8 bytes a position whatever the values are.
    static offset_vector wide(host_vector<offset> p);

    [[nodiscard]] std::size_t size() const {
        return narrow_.empty() ? wide_.size() : narrow_.size();
    }
    [[nodiscard]] bool empty() const { return size() == 0; }
    [[nodiscard]] std::size_t size_bytes() const { return offset_span(*this).size_bytes(); }
    offset operator[](std::size_t k) const { return offset_span(*this)[k]; }
    [[nodiscard]] offset back() const { return offset_span(*this).back(); }
    operator offset_span() const {
        if (narrow_.empty()) return std::span<const std::int64_t>(wide_);
        return std::span<const std::int32_t>(narrow_);
    }
    friend bool operator==(const offset_vector& a, const offset_vector& b);

  private:
    host_vector<std::int32_t> narrow_;
    host_vector<std::int64_t> wide_;
};

/// Positions on the GPU, borrowed: offset_span for kernels.
struct device_offset_span {
    using value_type = offset;
    const void* ptr = nullptr;
    std::size_t len = 0;
    bool wide = false;
    [[nodiscard]] constexpr std::size_t size() const { return len; }
    [[nodiscard]] constexpr std::size_t size_bytes() const { return len * (wide ? 8 : 4); }
#if defined(__CUDACC__)
    __device__ offset operator[](std::size_t k) const {
        return wide ? static_cast<const std::int64_t*>(ptr)[k]
                    : static_cast<const std::int32_t*>(ptr)[k];
    }
#endif
};

/// CPU memory, borrowed, read-only.
struct host_view {
    template <class T>
    using array = std::conditional_t<std::is_same_v<T, offset>, offset_span, std::span<const T>>;
    using view = host_view;     ///< borrows from it
    using on_host = host_view;  ///< holds what a format keeps on the CPU in any case
};
/// CPU memory, owned.
struct host {
    template <class T>
    using array = std::conditional_t<std::is_same_v<T, offset>, offset_vector, host_vector<T>>;
    using view = host_view;
    using on_host = host;
};
/// Memory of one GPU, borrowed, read-only; passed to kernels by value.
struct device_view {
    template <class T>
    using array = std::conditional_t<std::is_same_v<T, offset>, device_offset_span, device_span<T>>;
    using view = device_view;
    using on_host = host_view;
};
/// Memory of one GPU, owned.
struct device {
    template <class T>
    using array = std::conditional_t<std::is_same_v<T, offset>, device_offsets, device_array<T>>;
    using view = device_view;
    using on_host = host;
};

/// An array of T in space S. Positions (T = offset) take 4 bytes each where they fit.
template <class T, class S>
using array = typename S::template array<T>;

}  // namespace nz
