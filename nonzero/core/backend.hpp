// Where a kernel runs. Passed first to every kernel; holds no global state.
#pragma once

#include "nonzero/core/space.hpp"

namespace nz {

class communicator;
class gpu_communicator;

struct cpu {
    using view = host_view;
    using memory = nz::host;  ///< owns memory where it computes
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
    using memory = nz::device;
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

/// Whole numbers from first to last, which is not one of them.
struct range {
    std::int64_t first, last;
};

}  // namespace nz
