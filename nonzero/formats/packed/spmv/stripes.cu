#include "nonzero/formats/packed/spmv/stripes.hpp"

#include <cub/device/device_scan.cuh>

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/gpu.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 256;
constexpr int lanes_of_row = 8;

/// The first of [first, last) whose column is not below `least`.
__device__ inline offset first_from(const index* column, offset first, offset last, index least) {
    while (first < last) {
        const offset middle = first + (last - first) / 2;
        if (column[middle] < least) {
            first = middle + 1;
        } else {
            last = middle;
        }
    }
    return first;
}

/// Where each row's entries between two columns start, and, behind the row, how many they are.
template <class Offset>
__global__ void find_entries(device_offset_span row_ptr, const index* column, std::int64_t rows,
                             index least, index end, Offset* start, Offset* count) {
    const std::int64_t i = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
    if (i == 0) count[0] = 0;
    if (i >= rows) return;
    const offset last = row_ptr[std::size_t(i) + 1];
    const offset from = first_from(column, row_ptr[std::size_t(i)], last, least);
    start[i] = Offset(from);
    count[i + 1] = Offset(first_from(column, from, last, end) - from);
}

template <class Offset, class V>
__global__ void copy_entries(const Offset* from, const Offset* row_ptr, std::int64_t rows,
                             const index* column, const V* val, index* column_out, V* val_out) {
    const std::int64_t thread = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
    const std::int64_t i = thread / lanes_of_row;
    if (i >= rows) return;
    const offset first = row_ptr[i], count = row_ptr[i + 1] - first, start = from[i];
    for (offset k = thread % lanes_of_row; k < count; k += lanes_of_row)
        column_out[first + k] = column[start + k], val_out[first + k] = val[start + k];
}

template <class T>
void sum_up_to(gpu on, T* values, std::int64_t n) {
    std::size_t bytes = 0;
    const auto sum = [&](void* scratch) {
        check(cub::DeviceScan::InclusiveSum(scratch, bytes, values, values, n, stream_of(on)),
              "cub::DeviceScan::InclusiveSum");
    };
    sum(nullptr);
    const device_array<std::byte> scratch(on, bytes);
    sum(scratch.data());
}

template <class Offset, class V>
csr<V, device> columns_by(gpu on, const csr<V, device_view>& A, index first, index last) {
    const std::int64_t rows = A.shape.rows;
    const std::size_t len = std::size_t(rows) + 1;
    csr<V, device> B{A.shape,
                     {device_array<std::byte>(on, len * sizeof(Offset)), len, sizeof(Offset) == 8},
                     {},
                     {}};
    auto* const row_ptr = reinterpret_cast<Offset*>(B.row_ptr.bytes.data());
    const device_array<Offset> start(on, std::size_t(rows));
    find_entries<<<blocks_for(rows, threads_per_block), threads_per_block, 0, stream_of(on)>>>(
        A.row_ptr, A.col_ind.ptr, rows, first, last, start.data(), row_ptr);
    sum_up_to(on, row_ptr, rows + 1);
    const auto entries = std::size_t(read_back(on, row_ptr + rows));
    B.col_ind = device_array<index>(on, entries), B.val = device_array<V>(on, entries);
    copy_entries<<<blocks_for(rows * lanes_of_row, threads_per_block), threads_per_block, 0,
                   stream_of(on)>>>(start.data(), row_ptr, rows, A.col_ind.ptr, A.val.ptr,
                                    B.col_ind.data(), B.val.data());
    check(cudaGetLastError(), "columns_between");
    return B;
}

}  // namespace

template <class V>
csr<V, device> columns_between(gpu on, const csr<V, device_view>& A, index first, index last) {
    const device_guard guard(on);
    return std::int64_t(A.val.len) > offset_vector::max_narrow
               ? columns_by<std::int64_t>(on, A, first, last)
               : columns_by<std::int32_t>(on, A, first, last);
}

template csr<float, device> columns_between(gpu, const csr<float, device_view>&, index, index);
template csr<double, device> columns_between(gpu, const csr<double, device_view>&, index, index);

}  // namespace nz
