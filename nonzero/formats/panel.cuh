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
/// padding, column -1, is left out. The 32 lanes of a warp, one per row, read whole lines. No early
/// exit at the first padding: four loads are in flight before the first column is looked at.
template <class V, class Gather>
__device__ V sum_strided(const index* __restrict__ col_ind, const V* __restrict__ val, offset at,
                         offset pitch, index width, Gather x) {
    V sum = 0;
#pragma unroll 4
    for (index k = 0; k < width; ++k, at += pitch) {
        const index j = col_ind[at];
        if (j >= 0) sum += val[at] * x[j];
    }
    return sum;
}

inline constexpr int panel_threads = 256;  ///< rows to a block of threads

/// This thread's row, of a grid of one thread a row.
__device__ inline std::int64_t row_of_thread() {
    return std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x;
}

}  // namespace nz
