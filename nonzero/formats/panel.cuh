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

/// Elements of a row whose loads are issued before the first is used: as many as a stencil's row
/// has, so that most rows take one step.
inline constexpr index strided_step = 8;

/// The product of x with one row that is stored with a stride: its elements lie at at, at + pitch,
/// ...; padding, column -1, is left out. The 32 lanes of a warp, one per row, read whole lines.
///
/// No value waits for its column and no step for the one before: asking first whether a column is
/// padding made hll.column run at 0.69 of cuSPARSE's SELL on regular matrices (H200), and steps of
/// four with the rest one by one at 0.86; this runs at 0.93.
template <class V, class Gather>
__device__ V sum_strided(const index* __restrict__ col_ind, const V* __restrict__ val, offset at,
                         offset pitch, index width, Gather x) {
    V sum = 0;
    for (index k = 0; k < width; k += strided_step) {
        index j[strided_step];
        V v[strided_step];
#pragma unroll
        for (index u = 0; u < strided_step; ++u, at += pitch) {
            const bool inside = k + u < width;
            j[u] = inside ? col_ind[at] : -1;
            v[u] = inside ? val[at] : V(0);
        }
#pragma unroll
        for (index u = 0; u < strided_step; ++u)
            if (j[u] >= 0) sum += v[u] * x[j[u]];
    }
    return sum;
}

inline constexpr int panel_threads = 256;  ///< rows to a block of threads

/// This thread's row, of a grid of one thread a row. Rows are 32-bit numbers, and 32-bit divisions
/// by a group's size are several times cheaper.
__device__ inline unsigned row_of_thread() { return blockIdx.x * panel_threads + threadIdx.x; }

}  // namespace nz
