// The inner loop of the GPU's column-major layouts: one thread walks one row with a stride.
#pragma once

#include "nonzero/core/gpu/texture.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/loads.cuh"

namespace nz {

/// x[j] by a plain load, after wait().
template <class V>
struct plain_gather {
    static constexpr bool follows_writes = true;
    const V* x;
    __device__ void wait() { x = wait_for_previous(x); }
    __device__ V operator[](index j) const { return gather(x + j); }
};

/// The next `step` elements of a row, `left` of which are its own, added to `sum`; all loads are
/// issued before the first is used.
template <int step, bool streams, class V, class Gather>
__device__ V add_strided(V sum, const index* __restrict__ col_ind, const V* __restrict__ val,
                         offset at, offset pitch, index left, Gather& x, bool first) {
    index j[step];
    V v[step], xj[step];
#pragma unroll
    for (index u = 0; u < step; ++u, at += pitch) {
        const bool inside = u < left;
        j[u] = inside ? load<streams>(col_ind + at) : -1;
        v[u] = inside ? load<streams>(val + at) : V(0);
    }
    if (first) x.wait();
#pragma unroll
    for (index u = 0; u < step; ++u) xj[u] = j[u] >= 0 ? x[j[u]] : V(0);
#pragma unroll
    for (index u = 0; u < step; ++u)
        if (j[u] >= 0) sum += v[u] * xj[u];
    return sum;
}

/// The product of x with one row that is stored with a stride: its elements lie at at, at + pitch,
/// ...; padding, column -1, is left out. The 32 lanes of a warp, one per row, read whole lines.
/// No value waits for its column, and the first step not even for the kernel before.
///
/// Takes steps of eight elements and a last one of `last_step`. A last step of four wastes less in
/// lanes of few elements, as those of hll.warp. Eight keeps the lanes of a warp together where its
/// rows differ in length, as in icrs.row.
template <bool streams, int last_step = 4, class V, class Gather>
__device__ V sum_strided(const index* __restrict__ col_ind, const V* __restrict__ val, offset at,
                         offset pitch, index width, Gather x) {
    V sum = 0;
    bool first = true;
    for (; width > last_step; width -= 8, at += 8 * pitch, first = false)
        sum = add_strided<8, streams>(sum, col_ind, val, at, pitch, width, x, first);
    if (width > 0 || first)
        sum = add_strided<last_step, streams>(sum, col_ind, val, at, pitch, width, x, first);
    return sum;
}

/// Bytes of columns and values, which decide how they are loaded.
template <class V>
std::size_t panel_bytes(std::size_t places) {
    return places * (sizeof(V) + sizeof(index));
}

inline constexpr int panel_threads = 256;  ///< rows to a block of threads

/// This thread's row, of a grid of one thread a row. Rows are 32-bit numbers, and 32-bit divisions
/// by a group's size are several times cheaper.
__device__ inline unsigned row_of_thread() { return blockIdx.x * panel_threads + threadIdx.x; }

}  // namespace nz
