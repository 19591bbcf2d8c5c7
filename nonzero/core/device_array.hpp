// GPU memory that an array owns: taken and given back in the order of a stream.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

template <class T>
class device_array;

/// Memory of one GPU, owned, of no type: compiled once for the arrays of all types.
template <>
class device_array<void> {
  public:
    device_array() = default;
    /// Memory of on.device for what is launched in on.stream from now on. Waits for the GPU only
    /// where memory is short. Throws device_error where the memory is not to be had or on.stream is
    /// being captured in a CUDA graph (the capture goes on), unavailable without CUDA.
    device_array(gpu on, std::size_t bytes);
    device_array(device_array&& o) noexcept;
    device_array& operator=(device_array&& o) noexcept;
    /// Gives it back when what is launched in on.stream so far is done; never waits. While
    /// on.stream is being captured the memory is kept, until an array is made or released outside
    /// the capture.
    ~device_array();
    [[nodiscard]] void* data() const { return at_; }

  private:
    static void* allocate(gpu on, std::size_t bytes);
    static void release(gpu on, void* at) noexcept;

    int device_ = 0;
    void* stream_ = nullptr;
    void* at_ = nullptr;
};

/// Owns `len` elements of memory of one GPU; move-only. It belongs to the stream that it was made
/// for: other streams use it only after start_after or a synchronisation, and it is destroyed when
/// they are done. The stream must outlive the array.
template <class T>
class device_array {
  public:
    using value_type = T;
    device_array() = default;
    /// Uninitialised. Throws as device_array<void>.
    device_array(gpu on, std::size_t len) : block_(on, len * sizeof(T)), len_(len) {}
    device_array(device_array&& o) noexcept
        : block_(std::move(o.block_)), len_(std::exchange(o.len_, 0)) {}
    device_array& operator=(device_array&& o) noexcept {
        block_ = std::move(o.block_);
        std::swap(len_, o.len_);
        return *this;
    }
    [[nodiscard]] std::size_t size() const { return len_; }
    [[nodiscard]] T* data() const { return static_cast<T*>(block_.data()); }
    operator device_span<T>() const { return {data(), len_}; }
    operator device_out<T>() { return {data(), len_}; }

  private:
    device_array<void> block_;
    std::size_t len_ = 0;
};

/// Positions on the GPU, owned: as wide as the host's they were copied from.
struct device_offsets {
    using value_type = offset;
    device_array<std::byte> bytes;
    std::size_t len = 0;
    bool wide = false;
    [[nodiscard]] std::size_t size() const { return len; }
    [[nodiscard]] std::size_t size_bytes() const { return bytes.size(); }
    operator device_offset_span() const { return {bytes.data(), len, wide}; }
};

/// The memory at `from` to `to`, which lies on on.device. Throws device_error.
void copy_to_device(gpu on, const void* from, void* to, std::size_t bytes);
void copy_to_host(gpu on, const void* from, void* to, std::size_t bytes);  ///< returns when done

}  // namespace nz
