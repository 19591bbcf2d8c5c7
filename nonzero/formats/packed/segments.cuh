// The segments of long rows on a GPU: a warp takes one, and a row may have more than a block's.
#pragma once

#include "nonzero/core/cuda.cuh"
#include "nonzero/formats/packed/layout.hpp"

namespace nz {
namespace {

constexpr int warps_per_block = packed_block;
constexpr int threads_per_block = warps_per_block * warp_size;

/// Whether this block is the last of a row's `blocks` to leave its sums; it can then read those of
/// all. By one warp, whose lanes have written the block's.
__device__ inline bool leaves_last(unsigned* arrived, int blocks, int lane) {
    __threadfence();  // the sums before their announcement
    __syncwarp();
    unsigned before = 0;
    if (lane == 0) before = atomicAdd(arrived, 1U);
    before = __shfl_sync(full_warp, before, 0);
    if (before != unsigned(blocks) - 1) return false;
    __threadfence();  // the announcements before the sums of the others
    return true;
}

}  // namespace
}  // namespace nz
