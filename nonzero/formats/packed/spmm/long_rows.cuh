// SpMM, row-major X: the sums of rows that are cut into segments.
#pragma once

#include "nonzero/formats/packed/spmm/lanes.cuh"

namespace nz {
namespace {

/// The sums that the blocks of one long row leave, packed_row_vectors a block, and how many blocks
/// have left theirs, for each span.
template <class V>
struct row_sums {
    static constexpr unsigned counters = packed_row_vectors / packed_vectors;  ///< a block
    V* sum;
    unsigned* arrived;
};

/// Adds up a row's segments, of which this warp has one and the block's other warps have others,
/// and stores the row of Y, for one span: as for one vector. All of the block's warps call it.
/// block: of segments.
template <int width, class V>
__device__ void store_segments(const packed_chunk& c, const lane_of_vectors<width, V>& lane,
                               neighbours<width, V> sum, V alpha, V beta,
                               const strided_vectors<V>& Y, neighbours<width, V>* of_threads,
                               row_sums<V> of_blocks, unsigned block, unsigned span) {
    const int warp = int(threadIdx.x) / warp_size;
    const bool mine = lane.group == 0 && lane.active;
    if (mine) of_threads[threadIdx.x] = sum;
    __syncthreads();
    // The first warp of a row within this block adds its segments.
    if (c.segments == 0 || (c.number > 0 && warp > 0)) return;
    const int here = min(c.segments - c.number, warps_per_block - warp);
    if (mine)
        for (int p = 1; p < here; ++p) sum.add(of_threads[int(threadIdx.x) + p * warp_size]);
    if (here == c.segments) {
        if (mine) lane.store(Y, c.first_row, alpha, sum, beta);
        return;
    }
    const unsigned first = block - unsigned(c.number / warps_per_block);
    const int blocks = (c.segments + warps_per_block - 1) / warps_per_block;
    V* const sums = of_blocks.sum + lane.vector;
    unsigned* const arrived = of_blocks.arrived + first * row_sums<V>::counters + span;
    if (mine)
#pragma unroll
        for (int w = 0; w < width; ++w)
            sums[std::size_t(block) * packed_row_vectors + w] = sum.of[w];
    if (!leaves_last(arrived, blocks, lane_id())) return;
    sum = {};
    if (mine) {
        for (int b = 0; b < blocks; ++b)
#pragma unroll
            for (int w = 0; w < width; ++w)
                sum.of[w] +=
                    __ldcg(sums + std::size_t(first + unsigned(b)) * packed_row_vectors + w);
        lane.store(Y, c.first_row, alpha, sum, beta);
    }
    if (lane_id() == 0) *arrived = 0;  // for the next product
}

/// Behind what products with one vector leave: a sum and 8 bytes for each of the `blocks` of
/// segments.
template <class V>
row_sums<V> row_sums_in(device_out<std::byte> scratch, std::int64_t blocks) {
    V* const sums = reinterpret_cast<V*>(scratch.data() +
                                         std::size_t(blocks) * (sizeof(V) + 2 * sizeof(unsigned)));
    return {sums, reinterpret_cast<unsigned*>(sums + blocks * packed_row_vectors)};
}

}  // namespace
}  // namespace nz
