// GPU memory that an array owns: taken and given back in the order of a stream.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

/// Memory of on.device for what is launched in on.stream from now on. Waits for the GPU only where
/// memory is short. Throws device_error where the memory is not to be had or on.stream is being
/// captured in a CUDA graph (the capture goes on), unavailable without CUDA.
void* allocate_device(gpu on, std::size_t bytes);
/// Gives it back when what is launched in on.stream so far is done; never waits. While on.stream is
/// being captured the memory is kept, until an array is made or released outside the capture.
void release_device(gpu on, void* at) noexcept;

/// Memory of one GPU, owned, of no type: compiled once for the arrays of all types.
class device_block {
  public:
    device_block() = default;
    device_block(gpu on, std::size_t bytes);
    device_block(device_block&& o) noexcept;
    device_block& operator=(device_block&& o) noexcept;
    ~device_block();
    [[nodiscard]] void* at() const { return at_; }

  private:
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
    /// Uninitialised. Throws as allocate_device.
    device_array(gpu on, std::size_t len) : block_(on, len * sizeof(T)), len_(len) {}
    device_array(device_array&& o) noexcept
        : block_(std::move(o.block_)), len_(std::exchange(o.len_, 0)) {}
    device_array& operator=(device_array&& o) noexcept {
        block_ = std::move(o.block_);
        std::swap(len_, o.len_);
        return *this;
    }
    [[nodiscard]] std::size_t size() const { return len_; }
    [[nodiscard]] T* data() const { return static_cast<T*>(block_.at()); }
    operator device_span<T>() const { return {data(), len_}; }
    operator device_out<T>() { return {data(), len_}; }

  private:
    device_block block_;
    std::size_t len_ = 0;
};

/// Positions on the GPU, owned: as wide as the host's they were copied from.
struct device_offsets {
    using value_type = offset;
    device_array<std::byte> bytes;
    std::size_t len = 0;
    bool wide = false;
    [[nodiscard]] std::size_t size() const { return len; }
    operator device_offset_span() const { return {bytes.data(), len, wide}; }
};

}  // namespace nz
