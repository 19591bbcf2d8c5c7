// Shared by all .cu files: checked calls, launch sizes, reductions over a warp and over a block.
#pragma once

#include <cuda_runtime.h>

#include <string>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"

namespace nz {

/// Throws device_error naming the call unless it succeeded.
inline void check(cudaError_t code, const char* call) {
    if (code == cudaSuccess) return;
    cudaGetLastError();  // or the next, innocent call would report it again
    throw device_error(std::string(call) + " failed: " + cudaGetErrorString(code) + " (" +
                       cudaGetErrorName(code) + ")");
}

inline constexpr int warp_size = 32;
inline constexpr unsigned full_warp = 0xffffffffU;

inline cudaStream_t stream_of(gpu on) { return static_cast<cudaStream_t>(on.stream); }

/// The multiprocessors of the current GPU.
inline unsigned multiprocessors() {
    int device = 0, count = 0;
    check(cudaGetDevice(&device), "cudaGetDevice");
    check(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device),
          "cudaDeviceGetAttribute");
    return unsigned(count);
}

/// Blocks of `size` that cover n elements; at least one, as an empty grid is an error.
inline unsigned blocks_for(std::int64_t n, std::int64_t size) {
    return unsigned(n > 0 ? (n + size - 1) / size : 1);
}

/// alpha * sum + beta * y, reading y only where beta is not zero.
template <class V>
__device__ void store_scaled(V* y, V alpha, V sum, V beta) {
    *y = beta == V(0) ? alpha * sum : alpha * sum + beta * *y;
}

/// The sum over `lanes` neighbouring lanes (a power of two), in its first; a fixed tree.
template <int lanes, class V>
__device__ V sum_lanes(V v) {
#pragma unroll
    for (int step = lanes / 2; step > 0; step /= 2)
        v += __shfl_down_sync(full_warp, v, step, lanes);
    return v;
}

/// The least, the greatest and the sum of all lanes' v, in all lanes.
__device__ inline int warp_min(int v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(full_warp, v);
#else
    for (int step = warp_size / 2; step > 0; step /= 2)
        v = min(v, __shfl_xor_sync(full_warp, v, step));
    return v;
#endif
}
__device__ inline int warp_max(int v) {
#if __CUDA_ARCH__ >= 800
    return __reduce_max_sync(full_warp, v);
#else
    for (int step = warp_size / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(full_warp, v, step));
    return v;
#endif
}
template <class T>
__device__ T warp_sum(T v) {
#pragma unroll
    for (int step = warp_size / 2; step > 0; step /= 2) v += __shfl_xor_sync(full_warp, v, step);
    return v;
}

/// The lane of this thread, in blocks of one dimension, and a mask of the lanes before it.
__device__ inline int lane_id() { return int(threadIdx.x) % warp_size; }
__device__ inline unsigned lanes_before() { return (1U << lane_id()) - 1; }

/// Adds every thread's `mine` to *to, with one atomic operation a block: those on one address
/// queue.
template <class T>
__device__ void add_of_block(T* to, T mine) {
    __shared__ T sum;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    mine = warp_sum(mine);
    if (lane_id() == 0 && mine != 0) atomicAdd(&sum, mine);
    __syncthreads();
    if (threadIdx.x == 0 && sum != 0) atomicAdd(to, sum);
    __syncthreads();  // sum is used again
}

}  // namespace nz
