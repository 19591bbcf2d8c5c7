#include "nonzero/formats/coo/coo.hpp"

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/launch.cuh"

namespace nz {
namespace {

constexpr int threads_per_block = 256;
constexpr int warps_per_block = threads_per_block / warp_size;
constexpr std::int64_t entries_per_warp = 512;  ///< a warp's interval, in steps of 32

/// Partial sum of a warp: of the first or of the last row of its interval.
template <class V>
struct carry {
    index row;  ///< -1: none
    V sum;
};

/// Inclusive sums along the lanes within runs of one row.
template <class V>
__device__ V scan_runs(index row, V sum) {
    const int lane = int(threadIdx.x) % warp_size;
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const index other_row = __shfl_up_sync(full_warp, row, step);
        const V other = __shfl_up_sync(full_warp, sum, step);
        if (lane >= step && other_row == row) sum = other + sum;
    }
    return sum;
}

/// One warp an interval, one lane an entry. Rows that begin and end inside are added to y; the
/// first row and the last go to carries[2 * warp] and [2 * warp + 1].
template <class V>
__global__ void segmented_kernel(coo<V, device_view> A, V alpha, const V* x, V* __restrict__ y,
                                 carry<V>* __restrict__ carries) {
    x = wait_for_previous(x);
    const std::int64_t warp = std::int64_t(blockIdx.x) * warps_per_block + threadIdx.x / warp_size;
    const std::int64_t nnz = std::int64_t(A.val.len), begin = warp * entries_per_warp;
    if (begin >= nnz) return;
    const std::int64_t end = min(begin + entries_per_warp, nnz);
    const int lane = int(threadIdx.x) % warp_size;
    const index first_row = A.row_ind[begin];
    carry<V> head{first_row, V(0)}, open{first_row, V(0)};  // `open`: the row still being summed
    const auto close = [&](index row, V sum) {
        if (row == first_row) {
            head.sum = sum;
        } else {
            y[row] += alpha * sum;
        }
    };
    for (std::int64_t base = begin; base < end; base += warp_size) {
        const std::int64_t k = base + lane;
        const bool live = k < end;
        const index row = A.row_ind[live ? k : end - 1];
        V sum = live ? A.val[k] * gather(x + A.col_ind[k]) : V(0);
        if (lane == 0) {
            if (row == open.row) {
                sum = open.sum + sum;
            } else {
                close(open.row, open.sum);
            }
        }
        sum = scan_runs(row, sum);
        const index next_row = __shfl_down_sync(full_warp, row, 1);
        if (lane < warp_size - 1 && next_row != row) {
            if (row == first_row) {
                head.sum = sum;
            } else {
                y[row] += alpha * sum;
            }
        }
        // Lane 0 keeps the open row; the lane that closed the first row hands its sum to lane 0.
        const unsigned closed_first =
            __ballot_sync(full_warp, lane < warp_size - 1 && next_row != row && row == first_row);
        if (closed_first != 0)
            head.sum = __shfl_sync(full_warp, head.sum, __ffs(int(closed_first)) - 1);
        open = {__shfl_sync(full_warp, row, warp_size - 1),
                __shfl_sync(full_warp, sum, warp_size - 1)};
    }
    if (lane != 0) return;
    const bool one_row = open.row == first_row;
    carries[2 * warp] = one_row ? open : head;
    carries[2 * warp + 1] = one_row ? carry<V>{-1, V(0)} : open;
}

/// Adds the carries of one row, in order, where the first of them stands.
template <class V>
__global__ void add_carries(const carry<V>* carries, std::int64_t count, V alpha,
                            V* __restrict__ y) {
    carries = wait_for_previous(carries);
    const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k >= count || carries[k].row < 0) return;
    const index row = carries[k].row;
    const auto same = [&](std::int64_t u) { return carries[u].row == row || carries[u].row < 0; };
    // An interval of one row has one carry and an empty place behind it; look past that.
    if (k > 0 && carries[k - 1].row == row) return;
    if (k > 1 && carries[k - 1].row < 0 && carries[k - 2].row == row) return;
    V sum = 0;
    for (std::int64_t u = k; u < count && same(u); ++u)
        if (carries[u].row >= 0) sum += carries[u].sum;
    y[row] += alpha * sum;
}

template <class V>
__global__ void atomic_kernel(coo<V, device_view> A, V alpha, const V* x, V* __restrict__ y) {
    x = wait_for_previous(x);
    const std::int64_t k = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
    if (k < std::int64_t(A.val.len))
        atomicAdd(y + A.row_ind[k], alpha * (A.val[k] * gather(x + A.col_ind[k])));
}

std::int64_t intervals(std::int64_t nnz) { return (nnz + entries_per_warp - 1) / entries_per_warp; }

}  // namespace

template <class V>
std::size_t coo_segmented::scratch_bytes(gpu, const coo<V, device_view>& A) {
    return std::size_t(2 * intervals(std::int64_t(A.val.size()))) * sizeof(carry<V>);
}

template <class V>
void spmv(gpu on, coo_segmented, V alpha, const coo<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    if (beta != V(1)) scale_vector(on, beta, y);
    const std::int64_t warps = intervals(std::int64_t(A.val.size()));
    if (warps == 0) return;
    auto* const carries = reinterpret_cast<carry<V>*>(on.scratch.data());
    launch<segmented_kernel<V>>(on, blocks_for(warps, warps_per_block), threads_per_block, A, alpha,
                                x.data(), y.data(), carries);
    launch<add_carries<V>>(on, blocks_for(2 * warps, threads_per_block), threads_per_block, carries,
                           2 * warps, alpha, y.data());
}

template <class V>
void spmv(gpu on, coo_atomic, V alpha, const coo<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    if (beta != V(1)) scale_vector(on, beta, y);
    launch<atomic_kernel<V>>(on, blocks_for(std::int64_t(A.val.size()), threads_per_block),
                             threads_per_block, A, alpha, x.data(), y.data());
}

#define NZ_INSTANTIATE(V)                                                                    \
    template std::size_t coo_segmented::scratch_bytes(gpu, const coo<V, device_view>&);      \
    template void spmv(gpu, coo_segmented, V, const coo<V, device_view>&, device_span<V>, V, \
                       device_out<V>);                                                       \
    template void spmv(gpu, coo_atomic, V, const coo<V, device_view>&, device_span<V>, V,    \
                       device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
