// csr.merge on the GPU: the merge path between the ends of rows and the nonzeros, cut into tiles.
#include <cub/block/block_scan.cuh>

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 128;
constexpr int steps_per_thread = 8;
constexpr int tile = threads_per_block * steps_per_thread;  ///< rows ended + nonzeros a block

/// Carry of a run of steps: the sum so far of the row that it did not finish.
template <class V>
struct carry {
    std::int64_t row;
    V sum;
};

/// Sums of one row add up; of two rows the later one counts.
template <class V>
struct join_carries {
    __device__ carry<V> operator()(const carry<V>& a, const carry<V>& b) const {
        return {b.row, a.row == b.row ? a.sum + b.sum : b.sum};
    }
};

/// How many rows end among the first `d` steps of the path.
template <class RowEnd>
__device__ std::int64_t rows_before(RowEnd row_end, std::int64_t rows, std::int64_t nnz,
                                    std::int64_t d) {
    std::int64_t low = max(d - nnz, std::int64_t(0)), high = min(d, rows);
    while (low < high) {
        const std::int64_t mid = (low + high) / 2;
        if (row_end(mid) <= d - mid - 1) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

template <class V>
__global__ void __launch_bounds__(threads_per_block)
    merge_kernel(csr<V, device_view> A, V alpha, const V* x, V beta, V* __restrict__ y,
                 carry<V>* __restrict__ carries) {
    x = wait_for_previous(x);
    const std::int64_t all_rows = A.shape.rows, all_nnz = std::int64_t(A.val.len);
    __shared__ std::int64_t first_row, last_row;
    const std::int64_t start = std::int64_t(blockIdx.x) * tile;
    const std::int64_t stop = min(start + tile, all_rows + all_nnz);
    if (threadIdx.x < 2)
        (threadIdx.x == 0 ? first_row : last_row) =
            rows_before([&](std::int64_t i) { return A.row_ptr[i + 1]; }, all_rows, all_nnz,
                        threadIdx.x == 0 ? start : stop);
    __syncthreads();
    const std::int64_t row = first_row, first_nz = start - row;
    const int rows = int(last_row - row), nnz = int(stop - last_row - first_nz);

    // The tile's row ends (and the one after, or the end) and products, in shared memory.
    __shared__ int row_end[tile + 1];
    __shared__ V products[tile];
    for (int i = int(threadIdx.x); i <= rows; i += threads_per_block)
        row_end[i] = row + i < all_rows
                         ? int(min(A.row_ptr[row + i + 1] - first_nz, std::int64_t(tile) + 1))
                         : tile + 1;
#pragma unroll
    for (int u = 0; u < steps_per_thread; ++u) {
        const int k = int(threadIdx.x) + u * threads_per_block;
        if (k < nnz) products[k] = A.val[first_nz + k] * gather(x + A.col_ind[first_nz + k]);
    }
    __syncthreads();

    // Each thread walks its steps; the first row that it ends may have begun before it.
    const int d = min(int(threadIdx.x) * steps_per_thread, rows + nnz);
    const int d_end = min(d + steps_per_thread, rows + nnz);
    int r =
        int(rows_before([&](std::int64_t i) { return std::int64_t(row_end[i]); }, rows, nnz, d));
    int k = d - r;
    const int first_ended = r;
    V sum = 0, first_sum = 0;
    for (int step = d; step < d_end; ++step) {
        if (k < row_end[r]) {
            sum += products[k++];
            continue;
        }
        if (r == first_ended) {
            first_sum = sum;
        } else {
            store_scaled(y + row + r, alpha, sum, beta);
        }
        sum = 0, ++r;
    }
    using scan = cub::BlockScan<carry<V>, threads_per_block>;
    __shared__ typename scan::TempStorage scan_storage;
    carry<V> mine{row + r, sum}, before{-1, V(0)}, total;
    scan(scan_storage).ExclusiveScan(mine, before, carry<V>{-1, V(0)}, join_carries<V>{}, total);
    if (r > first_ended) {
        if (before.row == row + first_ended) first_sum = before.sum + first_sum;
        store_scaled(y + row + first_ended, alpha, first_sum, beta);
    }
    if (threadIdx.x == 0) carries[blockIdx.x] = total;
}

/// Adds what the tiles carry, in their order: the first of the tiles that carry one row adds all.
template <class V>
__global__ void add_carries(const carry<V>* carries, int tiles, std::int64_t rows, V alpha,
                            V* __restrict__ y) {
    carries = wait_for_previous(carries);
    const int t = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (t >= tiles) return;
    const std::int64_t row = carries[t].row;
    if (row >= rows || (t > 0 && carries[t - 1].row == row)) return;
    V sum = 0;
    for (int u = t; u < tiles && carries[u].row == row; ++u) sum += carries[u].sum;
    y[row] += alpha * sum;
}

unsigned tiles_of(std::int64_t rows, std::int64_t nnz) { return blocks_for(rows + nnz, tile); }

}  // namespace

template <class V>
std::size_t csr_merge::scratch_bytes(gpu, const csr<V, device_view>& A) {
    return tiles_of(A.shape.rows, std::int64_t(A.val.size())) * sizeof(carry<device_value<V>>);
}

template <class V>
void spmv(gpu on, csr_merge, V alpha, const csr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    const unsigned tiles = tiles_of(A.shape.rows, std::int64_t(A.val.size()));
    auto* const carries = reinterpret_cast<carry<device_value<V>>*>(on.scratch.data());
    launch<merge_kernel<device_value<V>>>(on, tiles, threads_per_block, in_kernels(A),
                                          in_kernels(alpha), in_kernels(x.data()), in_kernels(beta),
                                          in_kernels(y.data()), carries);
    launch<add_carries<device_value<V>>>(on, blocks_for(tiles, threads_per_block),
                                         threads_per_block, carries, int(tiles), A.shape.rows,
                                         in_kernels(alpha), in_kernels(y.data()));
}

#define NZ_INSTANTIATE(V)                                                                \
    template std::size_t csr_merge::scratch_bytes(gpu, const csr<V, device_view>&);      \
    template void spmv(gpu, csr_merge, V, const csr<V, device_view>&, device_span<V>, V, \
                       device_out<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
