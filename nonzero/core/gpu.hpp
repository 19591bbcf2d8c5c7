// The GPU from the host's side: whether there is one, streams, vectors to and from it. No CUDA in
// here, so that callers compile without it; every function throws `unavailable` in a build without
// CUDA, and device_error, with the call and the code, where a CUDA call fails.
#pragma once

#include <string>

#include "nonzero/core/device_array.hpp"

namespace nz {

[[nodiscard]] int gpu_count() noexcept;  ///< 0 where the build, the driver or the device lacks
/// Empty where `on` can be used; else why not, in one sentence.
[[nodiscard]] std::string why_no_gpu(gpu on = {});
void synchronize(gpu on);  ///< waits for on.stream
/// Owns a stream that does not wait for the default stream.
class gpu_stream {
  public:
    explicit gpu_stream(int device = 0);
    ~gpu_stream();
    gpu_stream(const gpu_stream&) = delete;
    gpu_stream& operator=(const gpu_stream&) = delete;
    operator gpu() const { return {.device = device_, .stream = stream_}; }

  private:
    int device_;
    void* stream_ = nullptr;
};

/// Copies a vector to the GPU; returns when the copy is done.
template <class T>
device_array<T> to_device(gpu on, std::span<const T> v) {
    device_array<T> d(on, v.size());
    copy_to_device(on, v.data(), d.data(), v.size_bytes());
    return d;
}
/// Copies a vector back; returns when the copy is done.
template <class T>
host_vector<T> to_host(gpu on, device_span<T> v) {
    host_vector<T> h(v.size());
    copy_to_host(on, v.data(), h.data(), h.size() * sizeof(T));
    return h;
}

}  // namespace nz
