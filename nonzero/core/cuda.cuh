// What every .cu file shares: checked calls, launch sizes, and the sums within a warp.
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

}  // namespace nz
