// Blocks on a GPU as a CSR of their values.
#include <climits>

#include "amgx/blocks_on_gpu.hpp"
#include "nonzero/core/cuda.cuh"
#include "nonzero/core/stream.hpp"

namespace nz::amgx {
namespace {

constexpr int threads_per_block = 256;

__global__ void range_kernel(device_span<int> columns, column_range* range) {
    int least = INT_MAX, largest = INT_MIN;
    const auto step = std::size_t(gridDim.x) * blockDim.x;
    for (auto k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < columns.len; k += step)
        least = min(least, columns.ptr[k]), largest = max(largest, columns.ptr[k]);
    for (int step = warp_size / 2; step > 0; step /= 2) {
        least = min(least, __shfl_xor_sync(full_warp, least, step));
        largest = max(largest, __shfl_xor_sync(full_warp, largest, step));
    }
    if (threadIdx.x % warp_size != 0) return;
    atomicMin(&range->least, least);
    atomicMax(&range->largest, largest);
}

/// A matrix's blocks as the kernel reads them. T: the values' type.
template <class T>
struct given_rows {
    int n, block;  ///< block rows, and rows of a block
    const int *row_ptr, *col_ind;
    const T *val, *diagonal;  ///< diagonal: null, or the last block of each row
};

/// A warp a block row: its lanes take the places of its scalar rows one after the other.
template <class T>
__global__ void scalars_kernel(given_rows<T> A, int* row_ptr, index* col_ind, double* val) {
    const int i = int((std::size_t(blockIdx.x) * blockDim.x + threadIdx.x) / warp_size);
    const int lane = int(threadIdx.x) % warp_size;
    if (i >= A.n) return;
    const int b = A.block, first = A.row_ptr[i], listed = A.row_ptr[i + 1] - first;
    const int apart = A.diagonal != nullptr ? 1 : 0;
    const int row = (listed + apart) * b;  // entries of a scalar row
    const std::size_t start = std::size_t(first + apart * i) * std::size_t(b) * std::size_t(b);
    for (int p = lane; p < row * b; p += warp_size) {
        const int r = p / row, k = p % row / b, c = p % row % b;
        const bool is_listed = k < listed;
        const std::size_t block = is_listed ? std::size_t(first + k) : std::size_t(i);
        const T* const values = is_listed ? A.val : A.diagonal;
        col_ind[start + std::size_t(p)] = (is_listed ? A.col_ind[block] : i) * b + c;
        val[start + std::size_t(p)] = double(values[(block * b + r) * b + c]);
    }
    for (int r = lane; r < b; r += warp_size) row_ptr[i * b + r] = int(start) + r * row;
    if (i == A.n - 1 && lane == 0) row_ptr[A.n * b] = int(start) + b * row;
}

template <class T>
void write(gpu on, const blocks_on_gpu& A, int n, int block, csr<double, device>& to) {
    const auto* const diagonal = reinterpret_cast<const T*>(A.diagonal.data());
    const given_rows<T> rows{n,
                             block,
                             A.row_ptr.data(),
                             A.col_ind.data(),
                             reinterpret_cast<const T*>(A.val.data()),
                             A.diagonal.size() > 0 ? diagonal : nullptr};
    const auto blocks = unsigned((std::int64_t(n) * warp_size - 1) / threads_per_block + 1);
    scalars_kernel<<<blocks, threads_per_block, 0, stream_of(on)>>>(
        rows, reinterpret_cast<int*>(to.row_ptr.bytes.data()), to.col_ind.data(), to.val.data());
    check_launch("scalar_rows");
}

}  // namespace

column_range range_of(gpu on, device_span<int> columns) {
    if (columns.len == 0) return {};
    const device_guard guard(on);
    device_array<column_range> found(on, 1);
    const column_range none{INT_MAX, INT_MIN};
    copy_to_device(on, &none, found.data(), sizeof none);
    range_kernel<<<512, threads_per_block, 0, stream_of(on)>>>(columns, found.data());
    check_launch("range_of");
    column_range r;
    copy_to_host(on, found.data(), &r, sizeof r);
    return r;
}

void write_scalars(gpu on, const blocks_on_gpu& A, int n, int block, bool single,
                   csr<double, device>& to) {
    const device_guard guard(on);
    single ? write<float>(on, A, n, block, to) : write<double>(on, A, n, block, to);
}

}  // namespace nz::amgx
