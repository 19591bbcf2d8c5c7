// The inner loop of the GPU's column-major layouts: one thread walks one row with a stride.
#pragma once

#include "nonzero/core/texture.cuh"

namespace nz {

/// x[j] by a plain load.
template <class V>
struct plain_gather {
    const V* __restrict__ x;
    __device__ V operator[](index j) const { return x[j]; }
};

/// The product of x with one row of a column-major panel: its elements lie at at, at + pitch, ...;
/// padding, column -1, is left out. The 32 lanes of a warp, one per row, read whole lines.
///
/// All loads of a step are issued before the first is used, and without asking whether a column is
/// padding: asked first, every value waits for its column, which cost a third of the speed
/// (hll.column at 0.69 of cuSPARSE's SELL on nlpkkt80, atmosmodd_like and others, H200). Padding
/// gathers x[0] instead, which all lanes share, and the product is dropped.
template <class V, class Gather>
__device__ V sum_strided(const index* __restrict__ col_ind, const V* __restrict__ val, offset at,
                         offset pitch, index width, Gather x) {
    constexpr int step = 4;
    V sum = 0;
    index k = 0;
    for (; k + step <= width; k += step) {
        index j[step];
        V v[step];
#pragma unroll
        for (int u = 0; u < step; ++u, at += pitch) j[u] = col_ind[at], v[u] = val[at];
#pragma unroll
        for (int u = 0; u < step; ++u) {
            const V product = v[u] * x[max(j[u], 0)];
            sum += j[u] >= 0 ? product : V(0);
        }
    }
    for (; k < width; ++k, at += pitch) {
        const index j = col_ind[at];
        const V product = val[at] * x[max(j, 0)];
        sum += j >= 0 ? product : V(0);
    }
    return sum;
}

inline constexpr int panel_threads = 256;  ///< rows to a block of threads

/// This thread's row, of a grid of one thread a row. Rows are 32-bit numbers, and 32-bit divisions
/// by a group's size are several times cheaper.
__device__ inline unsigned row_of_thread() { return blockIdx.x * panel_threads + threadIdx.x; }

}  // namespace nz
