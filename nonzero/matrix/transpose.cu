// A^T of a CSR that lies on the GPU: its entries sorted by column, in the order of their rows.
#include <bit>
#include <cub/device/device_radix_sort.cuh>

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/gpu/device_arena.hpp"
#include "nonzero/matrix/transpose.hpp"
#include "nonzero/vector/scalar.cuh"  // conjugated, of the complex numbers of kernels

namespace nz {
namespace {

constexpr int threads_per_block = 256;

/// How many of n ascending elements are at most `most`.
template <class At>
__device__ std::int64_t count_up_to(At at, std::int64_t n, std::int64_t most) {
    std::int64_t low = 0, high = n;
    while (low < high) {
        const std::int64_t middle = (low + high) / 2;
        if (at(middle) <= most) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

__device__ inline std::int64_t this_thread() {
    return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

/// The position and the row of every entry.
template <class Position>
__global__ void number_entries(device_offset_span row_ptr, Position* position, index* row,
                               std::int64_t nnz) {
    const std::int64_t k = this_thread();
    if (k >= nnz) return;
    const auto before = [&](std::int64_t i) { return row_ptr[std::size_t(i)]; };
    position[k] = Position(k);
    row[k] = index(max(count_up_to(before, std::int64_t(row_ptr.len), k), std::int64_t(1)) - 1);
}

template <class Offset>
__global__ void point_to_columns(const std::uint32_t* column, std::int64_t nnz, std::int64_t cols,
                                 Offset* ptr) {
    const std::int64_t j = this_thread();
    if (j > cols) return;
    const auto at = [&](std::int64_t k) { return std::int64_t(column[k]); };
    ptr[j] = j == cols ? Offset(nnz) : Offset(count_up_to(at, nnz, j - 1));
}

template <class Position, class V>
__global__ void take_entries(const Position* position, const index* row, const V* val,
                             std::int64_t nnz, index* row_out, V* val_out) {
    const std::int64_t k = this_thread();
    if (k >= nnz) return;
    row_out[k] = row[position[k]];
    val_out[k] = val[position[k]];
}

unsigned blocks(std::int64_t n) { return blocks_for(n, threads_per_block); }

/// The entries of A after a stable sort by their columns.
template <class Position>
struct sorted_entries {
    std::uint32_t* column = nullptr;
    Position *position_before = nullptr, *position = nullptr;  ///< in A
    index* row_before = nullptr;                               ///< of each entry of A
    std::byte* scratch = nullptr;                              ///< of the sort
    std::size_t scratch_bytes = 0;
    device_arena memory;

    sorted_entries(gpu on, const array<index, device_view>& columns, index cols) {
        const std::size_t nnz = columns.size();
        sort(on, columns, cols, nullptr);  // tells how much memory it wants
        memory.want(column, nnz), memory.want(position_before, nnz), memory.want(position, nnz);
        memory.want(row_before, nnz), memory.want(scratch, scratch_bytes);
        memory.allocate(on);
    }
    void sort(gpu on, const array<index, device_view>& columns, index cols, void* with) {
        const auto* const from = reinterpret_cast<const std::uint32_t*>(columns.data());
        const int bits = std::max(1, int(std::bit_width(std::uint32_t(std::max(cols, 1)) - 1)));
        check(cub::DeviceRadixSort::SortPairs(with, scratch_bytes, from, column, position_before,
                                              position, std::int64_t(columns.size()), 0, bits,
                                              stream_of(on)),
              "cub::DeviceRadixSort::SortPairs");
    }
};

template <class Position, class V>
csr<V, device> transpose_with(gpu on, const csr<V, device_view>& A) {
    const auto nnz = std::int64_t(A.val.size());
    const cudaStream_t stream = stream_of(on);
    const bool wide = nnz > offset_vector::max_narrow;
    csr<V, device> T;
    T.shape = {A.shape.cols, A.shape.rows};
    const std::size_t len = std::size_t(A.shape.cols) + 1;
    T.row_ptr = {device_array<std::byte>(on, len * (wide ? 8 : 4)), len, wide};
    T.col_ind = device_array<index>(on, std::size_t(nnz));
    T.val = device_array<V>(on, std::size_t(nnz));
    sorted_entries<Position> sorted(on, A.col_ind, A.shape.cols);
    number_entries<<<blocks(nnz), threads_per_block, 0, stream>>>(A.row_ptr, sorted.position_before,
                                                                  sorted.row_before, nnz);
    sorted.sort(on, A.col_ind, A.shape.cols, sorted.scratch);
    const auto point = [&](auto* ptr) {
        point_to_columns<<<blocks(std::int64_t(len)), threads_per_block, 0, stream>>>(
            sorted.column, nnz, A.shape.cols, ptr);
    };
    if (wide) {
        point(reinterpret_cast<std::int64_t*>(T.row_ptr.bytes.data()));
    } else {
        point(reinterpret_cast<std::int32_t*>(T.row_ptr.bytes.data()));
    }
    take_entries<<<blocks(nnz), threads_per_block, 0, stream>>>(
        sorted.position, sorted.row_before, in_kernels(A.val.data()), nnz, T.col_ind.data(),
        in_kernels(T.val.data()));
    check(cudaGetLastError(), "transpose");
    return T;  // the scratch memory is given back once the GPU is through
}

/// Lanes that share a row of the transpose.
constexpr int lanes_a_row = 8;

/// Looks up each entry of the adjoint in its row of A, whose columns ascend.
template <class V>
__global__ void look_up_entries(device_offset_span A_ptr, const index* A_col, const V* A_val,
                                device_offset_span T_ptr, const index* T_col, V* T_val,
                                std::int64_t rows) {
    const std::int64_t j = this_thread() / lanes_a_row, lane = this_thread() % lanes_a_row;
    if (j >= rows) return;
    for (offset k = T_ptr[std::size_t(j)] + lane; k < T_ptr[std::size_t(j) + 1]; k += lanes_a_row) {
        const auto i = std::size_t(T_col[k]);
        const offset first = A_ptr[i];
        const auto at = [&](std::int64_t m) { return std::int64_t(A_col[first + m]); };
        T_val[k] = conjugated(transposition::conjugate_transpose,
                              A_val[first + count_up_to(at, A_ptr[i + 1] - first, j - 1)]);
    }
}

}  // namespace

template <class V>
void adjoint_values(gpu on, const csr<V, device_view>& A, csr<V, device>& T) {
    const device_guard guard(on);
    if (T.val.size() == 0) return;
    look_up_entries<<<blocks(std::int64_t(T.shape.rows) * lanes_a_row), threads_per_block, 0,
                      stream_of(on)>>>(A.row_ptr, A.col_ind.data(), in_kernels(A.val.data()),
                                       view(T).row_ptr, T.col_ind.data(), in_kernels(T.val.data()),
                                       T.shape.rows);
    check(cudaGetLastError(), "adjoint_values");
}

template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>& A) {
    const device_guard guard(on);
    if (A.val.size() > 0xffffffffU) return transpose_with<std::uint64_t>(on, A);
    return transpose_with<std::uint32_t>(on, A);
}

#define NZ_INSTANTIATE(V)                                                \
    template csr<V, device> transposed(gpu, const csr<V, device_view>&); \
    template void adjoint_values(gpu, const csr<V, device_view>&, csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
