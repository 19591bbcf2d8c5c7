#include "nonzero/formats/hll/hll.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

constexpr int warps_per_block = panel_threads / warp_size;

template <bool streams, class V>
__global__ void column_kernel(hll<V, device_view> A, V alpha, plain_gather<V> x, V beta,
                              V* __restrict__ y) {
    const unsigned i = row_of_thread();
    if (i >= unsigned(A.shape.rows)) return;
    const unsigned h = i / unsigned(A.hack_size), first = h * unsigned(A.hack_size);
    const offset rows = min(A.hack_size, A.shape.rows - index(first));
    const V sum = sum_strided<streams>(A.col_ind.ptr, A.val.ptr, A.hack_ptr[h] + i - first, rows,
                                       A.max_nnz[h], x);
    store_scaled(y + i, alpha, sum, beta);
}

/// Where row i of a row-major matrix starts, and how many elements it has, padding included.
struct stored_row {
    offset start;
    index width;
};
template <class V>
__device__ stored_row find_row(const hll_rows<V, device_view>& A, unsigned i) {
    const unsigned h = i / unsigned(A.hack_size);
    const index width = A.max_nnz[h];
    return {A.hack_ptr[h] + offset(i - h * unsigned(A.hack_size)) * width, width};
}

template <bool streams, class V>
__global__ void row_kernel(hll_rows<V, device_view> A, V alpha, plain_gather<V> x, V beta,
                           V* __restrict__ y) {
    const unsigned i = row_of_thread();
    if (i >= unsigned(A.shape.rows)) return;
    const auto [start, width] = find_row(A, i);
    store_scaled(y + i, alpha,
                 sum_strided<streams>(A.col_ind.ptr, A.val.ptr, start, offset(1), width, x), beta);
}

/// Sum of a lane's entries of its warp's row.
template <bool streams, class V>
__device__ V sum_of_lane(const hll_rows<V, device_view>& A, unsigned i, plain_gather<V> x) {
    const auto [start, width] = find_row(A, i);
    const int lane = int(threadIdx.x);
    return sum_strided<streams>(A.col_ind.ptr, A.val.ptr, start + lane, offset(warp_size),
                                (width - lane + warp_size - 1) / warp_size, x);
}

template <bool streams, class V>
__global__ void warp_kernel(hll_rows<V, device_view> A, V alpha, plain_gather<V> x, V beta,
                            V* __restrict__ y) {
    const unsigned i = blockIdx.x * warps_per_block + threadIdx.y;
    if (i >= unsigned(A.shape.rows)) return;
    const V sum = sum_lanes<warp_size>(sum_of_lane<streams>(A, i, x));
    if (threadIdx.x == 0) store_scaled(y + i, alpha, sum, beta);
}

template <bool streams, class V>
__global__ void warp_shared_kernel(hll_rows<V, device_view> A, V alpha, plain_gather<V> x, V beta,
                                   V* __restrict__ y) {
    __shared__ V sums[panel_threads];
    const unsigned i = blockIdx.x * warps_per_block + threadIdx.y;
    const int lane = int(threadIdx.x), at = int(threadIdx.y) * warp_size + lane;
    sums[at] = i < unsigned(A.shape.rows) ? sum_of_lane<streams>(A, i, x) : V(0);
    for (int step = warp_size / 2; step > 0; step /= 2) {
        __syncthreads();
        if (lane < step) sums[at] += sums[at + step];
    }
    if (i < unsigned(A.shape.rows) && lane == 0) store_scaled(y + i, alpha, sums[at], beta);
}

}  // namespace

template <class V>
void spmv(gpu on, hll_column, V alpha, const hll<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch<column_kernel<streams, V>>(on, blocks_for(A.shape.rows, panel_threads),
                                          panel_threads, A, alpha, plain_gather<V>{x.data()}, beta,
                                          y.data());
    });
}

template <class V>
void spmv(gpu on, hll_row, V alpha, const hll_rows<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch<row_kernel<streams, V>>(on, blocks_for(A.shape.rows, panel_threads), panel_threads,
                                       A, alpha, plain_gather<V>{x.data()}, beta, y.data());
    });
}

template <class V>
void spmv(gpu on, hll_warp, V alpha, const hll_rows<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch<warp_kernel<streams, V>>(on, blocks_for(A.shape.rows, warps_per_block),
                                        dim3(warp_size, warps_per_block), A, alpha,
                                        plain_gather<V>{x.data()}, beta, y.data());
    });
}

template <class V>
void spmv(gpu on, hll_warp_shared, V alpha, const hll_rows<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch<warp_shared_kernel<streams, V>>(on, blocks_for(A.shape.rows, warps_per_block),
                                               dim3(warp_size, warps_per_block), A, alpha,
                                               plain_gather<V>{x.data()}, beta, y.data());
    });
}

#define NZ_INSTANTIATE(V)                                                                        \
    template void spmv(gpu, hll_column, V, const hll<V, device_view>&, device_span<V>, V,        \
                       device_out<V>);                                                           \
    template void spmv(gpu, hll_row, V, const hll_rows<V, device_view>&, device_span<V>, V,      \
                       device_out<V>);                                                           \
    template void spmv(gpu, hll_warp, V, const hll_rows<V, device_view>&, device_span<V>, V,     \
                       device_out<V>);                                                           \
    template void spmv(gpu, hll_warp_shared, V, const hll_rows<V, device_view>&, device_span<V>, \
                       V, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
