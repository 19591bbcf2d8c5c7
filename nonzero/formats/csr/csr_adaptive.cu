#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/loads.cuh"
#include "nonzero/formats/csr/csr_adaptive.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 256;
constexpr int items_per_thread = csr_adaptive_most / threads_per_block;
constexpr int warps_per_block = threads_per_block / warp_size;

/// A thread's entries among `count` that follow `begin`; column -1 where there are none left.
template <class V>
struct loaded_entries {
    index j[items_per_thread];
    V v[items_per_thread];
};
template <bool streams, class V>
__device__ loaded_entries<V> load_entries(const csr_adaptive<V, device_view>& A, offset begin,
                                          int count) {
    loaded_entries<V> e;
#pragma unroll
    for (int u = 0; u < items_per_thread; ++u) {
        const int k = int(threadIdx.x) + u * threads_per_block;
        e.j[u] = k < count ? load<streams>(A.col_ind.ptr + begin + k) : -1;
        e.v[u] = k < count ? load<streams>(A.val.ptr + begin + k) : V(0);
    }
    return e;
}

/// The rows [first, last) from their products, with `lanes` lanes each.
template <int lanes, class V>
__device__ void sum_rows(const csr_adaptive<V, device_view>& A, index first, index last,
                         const V* products, V alpha, V beta, V* __restrict__ y) {
    const offset begin = A.row_ptr[first];
    const int lane = int(threadIdx.x) % lanes;
    constexpr int rows_at_once = threads_per_block / lanes;
    for (index base = first; base < last; base += rows_at_once) {
        const index i = base + int(threadIdx.x) / lanes;
        V sum = 0;
        if (i < last) {
            const int end = int(A.row_ptr[i + 1] - begin);
            for (int k = int(A.row_ptr[i] - begin) + lane; k < end; k += lanes) sum += products[k];
        }
        sum = sum_lanes<lanes>(sum);
        if (i < last && lane == 0) store_scaled(y + i, alpha, sum, beta);
    }
}

/// The rows [first, last) from their products, with several warps each.
template <int warps, class V>
__device__ void sum_wide_rows(const csr_adaptive<V, device_view>& A, index first, index last,
                              const V* products, V alpha, V beta, V* __restrict__ y) {
    __shared__ V of_warp[warps_per_block];
    const offset begin = A.row_ptr[first];
    const int warp = int(threadIdx.x) / warp_size;
    const index i = first + warp / warps;
    V sum = 0;
    if (i < last) {
        const int end = int(A.row_ptr[i + 1] - begin);
        for (int k = int(A.row_ptr[i] - begin) + int(threadIdx.x) % (warps * warp_size); k < end;
             k += warps * warp_size)
            sum += products[k];
    }
    sum = sum_lanes<warp_size>(sum);
    if (threadIdx.x % warp_size == 0) of_warp[warp] = sum;
    __syncthreads();
    const index mine = first + index(threadIdx.x);
    if (mine >= last) return;
    sum = 0;
    for (int w = 0; w < warps; ++w) sum += of_warp[int(threadIdx.x) * warps + w];
    store_scaled(y + mine, alpha, sum, beta);
}

/// The sum of all threads' v, in thread 0; a fixed tree.
template <class V>
__device__ V sum_block(V v) {
    __shared__ V of_warp[warps_per_block];
    v = sum_lanes<warp_size>(v);
    if (threadIdx.x % warp_size == 0) of_warp[threadIdx.x / warp_size] = v;
    __syncthreads();
    v = threadIdx.x < warps_per_block ? of_warp[threadIdx.x] : V(0);
    if (threadIdx.x < warp_size) v = sum_lanes<warp_size>(v);
    return v;
}

/// One part of a long row: its sum to scratch; the last part to arrive adds all of them.
template <bool streams, class V>
__device__ void sum_part(const csr_adaptive<V, device_view>& A, const V* x, index row, index part,
                         V alpha, V beta, V* __restrict__ y, V* part_sum, unsigned* arrived) {
    const offset row_end = A.row_ptr[row + 1];
    const offset begin = A.row_ptr[row] + offset(part) * A.capacity;
    const offset end = min(begin + A.capacity, row_end);
    const loaded_entries<V> e = load_entries<streams>(A, begin, int(end - begin));
    x = wait_for_previous(x);
    V sum = 0;
#pragma unroll
    for (int u = 0; u < items_per_thread; ++u)
        if (e.j[u] >= 0) sum += e.v[u] * gather(x + e.j[u]);
    sum = sum_block(sum);
    const int parts = int((row_end - A.row_ptr[row] + A.capacity - 1) / A.capacity);
    V* const sums = part_sum + (int(blockIdx.x) - part);
    unsigned* const count = arrived + (int(blockIdx.x) - part);
    __shared__ bool last;
    if (threadIdx.x == 0) {
        sums[part] = sum;
        __threadfence();  // the sum before its announcement
        last = atomicAdd(count, 1U) == unsigned(parts) - 1;
    }
    __syncthreads();
    if (!last) return;
    __threadfence();  // the announcements before the sums of the others
    sum = 0;
    for (int p = int(threadIdx.x); p < parts; p += threads_per_block) sum += __ldcg(sums + p);
    sum = sum_block(sum);
    if (threadIdx.x == 0) {
        store_scaled(y + row, alpha, sum, beta);
        *count = 0;  // for the next product
    }
}

template <bool streams, class V>
__global__ void __launch_bounds__(threads_per_block)
    adaptive_kernel(csr_adaptive<V, device_view> A, V alpha, const V* x, V beta, V* __restrict__ y,
                    V* part_sum, unsigned* arrived) {
    const index first = A.block_row[blockIdx.x], part = A.block_part[blockIdx.x];
    if (part >= 0) return sum_part<streams>(A, x, first, part, alpha, beta, y, part_sum, arrived);
    __shared__ V products[csr_adaptive_most];
    const index last = A.block_row[blockIdx.x + 1];
    const offset begin = A.row_ptr[first];
    const loaded_entries<V> e = load_entries<streams>(A, begin, int(A.row_ptr[last] - begin));
    x = wait_for_previous(x);
#pragma unroll
    for (int u = 0; u < items_per_thread; ++u)
        if (e.j[u] >= 0)
            products[int(threadIdx.x) + u * threads_per_block] = e.v[u] * gather(x + e.j[u]);
    __syncthreads();
    const int rows = int(last - first);
    if (rows > threads_per_block / 2) return sum_rows<1>(A, first, last, products, alpha, beta, y);
    if (rows > threads_per_block / 4) return sum_rows<2>(A, first, last, products, alpha, beta, y);
    if (rows > threads_per_block / 8) return sum_rows<4>(A, first, last, products, alpha, beta, y);
    if (rows > threads_per_block / 16) return sum_rows<8>(A, first, last, products, alpha, beta, y);
    if (rows > threads_per_block / 32)
        return sum_rows<16>(A, first, last, products, alpha, beta, y);
    if (rows > warps_per_block / 2) return sum_rows<32>(A, first, last, products, alpha, beta, y);
    if (rows > warps_per_block / 4)
        return sum_wide_rows<2>(A, first, last, products, alpha, beta, y);
    if (rows > 1) return sum_wide_rows<4>(A, first, last, products, alpha, beta, y);
    sum_wide_rows<8>(A, first, last, products, alpha, beta, y);
}

}  // namespace

template <class V>
void spmv(gpu on, csr_adaptive_blocks, V alpha, const csr_adaptive<V, device_view>& A,
          device_span<V> x, V beta, device_out<V> y) {
    const auto blocks = unsigned(A.block_part.size());
    auto* const part_sum = reinterpret_cast<device_value<V>*>(on.scratch.data());
    auto* const arrived = reinterpret_cast<unsigned*>(part_sum + blocks);
    with_loads(A.val.size() * (sizeof(V) + sizeof(index)), [&]<bool streams>() {
        launch<adaptive_kernel<streams, device_value<V>>>(
            on, blocks, threads_per_block, in_kernels(A), in_kernels(alpha), in_kernels(x.data()),
            in_kernels(beta), in_kernels(y.data()), part_sum, arrived);
    });
}

#define NZ_INSTANTIATE(V)                                                                \
    template void spmv(gpu, csr_adaptive_blocks, V, const csr_adaptive<V, device_view>&, \
                       device_span<V>, V, device_out<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
