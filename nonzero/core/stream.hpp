// Work in the streams of a GPU, as the library itself orders it: its order beside other streams,
// its times, small operations on vectors. No CUDA in here either; all throw as the functions of
// gpu.hpp.
#pragma once

#include "nonzero/core/gpu.hpp"

namespace nz {

#if defined(NZ_WITH_CUDA)
inline constexpr bool has_cuda = true;
#define NZ_WITH_CUDA_ONLY(...) __VA_ARGS__
#else
inline constexpr bool has_cuda = false;
/// Around instantiations that nothing refers to in a build without CUDA.
#define NZ_WITH_CUDA_ONLY(...)
#endif

/// Throws unavailable, saying why, where `on` cannot be used.
void require_gpu(gpu on);

/// True where this build has code for B. Without CUDA, functions over a GPU are compiled to a
/// refusal, as what they would call takes half of the library's time to compile.
template <class B>
inline constexpr bool is_built = has_cuda || std::is_same_v<B, cpu>;
/// Throws unavailable: the refusal. It exists in a build without CUDA only.
[[noreturn]] void refuse_gpu();

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
struct device_memory {
    std::size_t free_bytes, total_bytes;
};
[[nodiscard]] device_memory memory_of(gpu on);
/// Its address on the PCI bus of its host, the same for all processes: "0000:1b:00.0".
[[nodiscard]] std::string pci_bus_id(gpu on);

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

/// One element from the GPU's memory. Waits for on.stream.
template <class T>
T read_back(gpu on, const T* from) {
    T value;
    copy_to_host(on, from, &value, sizeof(T));
    return value;
}

/// Page-locked memory of the calling thread, which kernels reach as well: the CPU reads what they
/// leave there once it has waited for them, without a copy. One result at a time. Null where none
/// can be had.
[[nodiscard]] void* memory_for_results();
inline constexpr std::size_t most_result_bytes = 256;
template <class T>
[[nodiscard]] T* memory_for_result() {
    static_assert(sizeof(T) <= most_result_bytes);
    return static_cast<T*>(memory_for_results());
}

/// Starts a copy of few bytes to page-locked memory of the calling thread. The CPU reads them there
/// once it has waited for on.stream, until the thread starts another. Null, and no copy, where they
/// are more than 8192 or no such memory can be had.
[[nodiscard]] const void* start_copy_to_host(gpu on, const void* from, std::size_t bytes);

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
/// From GPU memory to GPU memory, in the order of the stream.
void copy_on_device(gpu on, const void* from, void* to, std::size_t bytes);

}  // namespace nz
