// What a warp of a GPU does with a tile and vectors in row-major order: it decodes the tile into
// shared memory, and then its groups of lanes take a row each.
#pragma once

#include "nonzero/formats/packed/spmm/lanes.cuh"
#include "nonzero/formats/packed/spmv/tiles.cuh"

namespace nz {
namespace {

/// A tile's entries, row by row, in a warp's shared memory.
template <class V>
struct alignas(16) tile_entries {
    index col_ind[most_tile_entries];
    V val[most_tile_entries];
    std::uint16_t row_end[most_tile_rows + 1];  ///< where each row ends; room for whole warps
};

/// Decodes a tile and finds where its rows end.
template <class D, class V>
__device__ void decode_tile(const packed<V, device_view>& A, const packed_chunk& c, D value,
                            tile_entries<V>& to) {
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane_id());
    const int lane = lane_id(), first = lane * int(c.width);
    for (int k = 0; k < int(c.width); ++k) {
        const int place = k * warp_size + lane;
        const std::uint32_t j =
            is_narrow(c.kind) ? load<true>(reinterpret_cast<const std::uint16_t*>(code) + place)
                              : load<true>(code + place);
        to.col_ind[first + k] = c.base + index(j);  // behind the last row: of padding, and unused
        to.val[first + k] = value[at + unsigned(k * warp_size)];
    }
    const std::uint32_t* const ends_of_lanes = code + words_a_column(c.kind) * c.width;
    unsigned ends = __ldg(reinterpret_cast<const std::uint8_t*>(ends_of_lanes) + lane);
    int before = sum_before(__popc(ends));
    for (; ends != 0; ends &= ends - 1)
        to.row_end[before++] = std::uint16_t(first + __ffs(int(ends)));
    __syncwarp();
    // So far of rows with entries alone; now of all, from the last on, as each moves backwards.
    const std::uint32_t* const occupied = ends_of_lanes + tile_ends_words;
    for (int r = (int(c.rows) - 1) / warp_size * warp_size; r >= 0; r -= warp_size) {
        int rows_before = __popc(__ldg(occupied + r / warp_size) & (lanes_before() << 1 | 1));
        for (int w = 0; w < r / warp_size; ++w) rows_before += __popc(__ldg(occupied + w));
        const std::uint16_t end = rows_before > 0 ? to.row_end[rows_before - 1] : std::uint16_t(0);
        __syncwarp();
        to.row_end[r + lane] = end;
        __syncwarp();
    }
}

/// A tile: groups take a row each.
template <int width, class D, class V>
__device__ void multiply_tile_rows(const packed<V, device_view>& A, const packed_chunk& c, D value,
                                   lane_of_vectors<width, V> lane, V alpha, V beta,
                                   const strided_vectors<V>& Y, tile_entries<V>& tile) {
    decode_tile(A, c, value, tile);
    lane.x = wait_for_previous(lane.x);
    for (int r = lane.group; r < int(c.rows); r += 1 << lane.log_groups()) {
        neighbours<width, V> sum{};
        const int end = tile.row_end[r];
        for (int t = r > 0 ? tile.row_end[r - 1] : 0; t < end; t += in_flight) {
            V v[in_flight]{};
            neighbours<width, V> x[in_flight]{};
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
                if (t + u < end)
                    v[u] = tile.val[t + u], x[u] = gather(lane.row(tile.col_ind[t + u]));
#pragma unroll
            for (int u = 0; u < in_flight; ++u) sum.add(v[u], x[u]);
        }
        if (lane.active) lane.store(Y, c.first_row + r, alpha, sum, beta);
    }
}

}  // namespace
}  // namespace nz
