// Where a kernel runs. Passed first to every kernel; holds no global state.
#pragma once

#include "nonzero/core/space.hpp"

namespace nz {

class communicator;
class gpu_communicator;

struct cpu {
    using view = host_view;
    template <class V>
    using in = std::span<const V>;
    template <class V>
    using out = std::span<V>;

    int threads = 0;                 ///< 0: as many as OpenMP offers
    std::span<std::byte> scratch{};  ///< as much as the kernel's scratch_bytes asked for
    /// Where vectors are shared out over ranks, those ranks: sums are then over all of them. Null:
    /// this process holds the whole vectors.
    const communicator* ranks = nullptr;
};

struct gpu {
    using view = device_view;
    template <class V>
    using in = device_span<V>;
    template <class V>
    using out = device_out<V>;

    int device = 0;
    void* stream = nullptr;                ///< a cudaStream_t; null is the default stream
    device_out<std::byte> scratch{};       ///< as much as the kernel's scratch_bytes asked for
    device_out<std::byte> more_scratch{};  ///< as much as its scratch_for_many asked for, or none
    /// Where vectors are shared out over ranks, those ranks; as a cpu's.
    const gpu_communicator* ranks = nullptr;
};

template <class V, class B>
using in = typename B::template in<V>;  ///< a vector that B reads
template <class V, class B>
using out = typename B::template out<V>;  ///< a vector that B writes

/// How several vectors, the columns of a dense matrix, lie in one array.
enum class storage_order : unsigned char {
    column_major,  ///< each vector's elements side by side, as BLAS and Fortran hold them
    row_major,     ///< each row's elements side by side, as NumPy and PyTorch hold them
};

/// Several vectors in one array. The i-th element of the c-th is the c * stride + i -th of a
/// column-major array, the i * stride + c -th of a row-major one.
template <class Array>
struct columns {
    Array values = {};
    std::size_t stride = 0;  ///< from one vector, or row, to the next; no less than it [elements]
    index count = 0;         ///< vectors
    storage_order order = storage_order::column_major;

    [[nodiscard]] constexpr bool by_row() const { return order == storage_order::row_major; }
    [[nodiscard]] constexpr std::size_t row_stride() const { return by_row() ? stride : 1; }
    [[nodiscard]] constexpr std::size_t vector_stride() const { return by_row() ? 1 : stride; }
};
template <class V, class B>
using in_columns = columns<in<V, B>>;  ///< vectors that B reads
template <class V, class B>
using out_columns = columns<out<V, B>>;  ///< vectors that B writes

#if defined(NZ_WITH_CUDA)
inline constexpr bool has_cuda = true;
#else
inline constexpr bool has_cuda = false;
#endif

inline constexpr int max_threads = 1024;  ///< more are not used: carries live on the stack

/// on.threads, or what OpenMP offers where that is 0. A loop is run by all of them or by one, also
/// where some have nothing to do: GCC's OpenMP ends the threads that a loop leaves out and has to
/// start new ones for the next loop (docs/decisions/threads.md).
[[nodiscard]] int thread_count(cpu);

/// The p-th of `parts` shares of [0, n), of equal size up to one.
struct range {
    std::int64_t first, last;
};
constexpr range share(std::int64_t n, std::int64_t parts, std::int64_t p) {
    const std::int64_t each = n / parts, rest = n % parts;
    const std::int64_t first = p * each + (p < rest ? p : rest);
    return {first, first + each + (p < rest)};
}

void copy_to_device(gpu, const void* from, void* to, std::size_t bytes);
void copy_to_host(gpu, const void* from, void* to, std::size_t bytes);  ///< returns when done
/// From GPU memory to GPU memory, in the order of the stream.
void copy_on_device(gpu, const void* from, void* to, std::size_t bytes);

}  // namespace nz
