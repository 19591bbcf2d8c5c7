// The GPU from the host's side: whether there is one, streams and events, vectors to and from it.
// No CUDA in here, so that callers compile without it; every function throws `unavailable` in a
// build without CUDA, and device_error, with the call and the code, where a CUDA call fails.
#pragma once

#include <string>

#include "nonzero/core/device_array.hpp"

namespace nz {

[[nodiscard]] int gpu_count() noexcept;  ///< 0 where the build, the driver or the device lacks
/// Empty where `on` can be used; else why not, in one sentence.
[[nodiscard]] std::string why_no_gpu(gpu on = {});
/// Throws unavailable, saying why, where `on` cannot be used.
void require_gpu(gpu on);

/// Makes on.device the calling thread's current GPU as long as it lives.
class device_guard {
  public:
    explicit device_guard(gpu on);
    ~device_guard();
    device_guard(const device_guard&) = delete;
    device_guard& operator=(const device_guard&) = delete;

  private:
    int now_ = 0, before_ = 0;
};

/// Throws device_error if a kernel launched by this thread could not start.
void check_launch(const char* what);
void synchronize(gpu on);  ///< waits for on.stream
struct device_memory {
    std::size_t free_bytes, total_bytes;
};
[[nodiscard]] device_memory memory_of(gpu on);
/// Where it sits in its host, the same for all processes: "0000:1b:00.0".
[[nodiscard]] std::string pci_bus_id(gpu on);

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

/// A stream of that GPU for what may run beside on.stream: the same for all who ask, as long as the
/// process lives.
[[nodiscard]] gpu beside(gpu on);
/// Launches in later.stream from now on start when all that has been launched in earlier.stream
/// is done. The CPU waits for nothing.
void start_after(gpu later, gpu earlier);

/// A point in a stream, with its time.
class gpu_event {
  public:
    gpu_event();
    ~gpu_event();
    gpu_event(const gpu_event&) = delete;
    gpu_event& operator=(const gpu_event&) = delete;
    void record(gpu on);
    /// Waits for this event; seconds since `start` was passed.
    [[nodiscard]] double seconds_since(const gpu_event& start) const;

  private:
    void* event_ = nullptr;
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

/// One element from the GPU's memory. Waits for on.stream.
template <class T>
T read_back(gpu on, const T* from) {
    T value;
    copy_to_host(on, from, &value, sizeof(T));
    return value;
}

void zero_on_device(gpu on, device_out<std::byte> to);  ///< in on.stream

/// y = beta y, y not read where beta is 0.
template <class V>
void scale_vector(gpu on, V beta, device_out<V> y);
/// x = -x without dependent launch, so that it overlaps with no kernel before or after it:
/// benchmarks use it to stand for another library's kernel between two products.
template <class V>
void negate_alone(gpu on, device_out<V> x);
/// to = the conjugate of from, of one length; they may be one vector. Complex values.
template <class V>
void conjugate(gpu on, device_span<V> from, device_out<V> to);
/// to = from: as many vectors of `len` elements, either in any order; not overlapping.
template <class V>
void copy_vectors(gpu on, in_columns<V, gpu> from, out_columns<V, gpu> to, std::size_t len);

}  // namespace nz
