// How a warp of a GPU multiplies a tile: every lane sums its share of the entries row by row, and
// the parts of rows that lanes share are added by a segmented scan.
#pragma once

#include "nonzero/formats/packed/spmv/lanes.cuh"

namespace nz {
namespace {

/// Sums this lane's entries. Where `ends` has a bit, a row ends: its sum goes to `*sums`, the next
/// row's to the place behind. Returns what is left of a row that goes on in the next lane.
template <class Column, class D, class V>
__device__ V sum_tile(const Column* __restrict__ column, int width, D value, std::size_t at,
                      const V* x, unsigned ends, V* sums) {
    constexpr Column padding = Column(-1);
    V sum = 0;
    for (int left = width; left > 0; left -= in_flight, at += in_flight * warp_size,
             column += in_flight * warp_size, ends >>= in_flight) {
        Column j[in_flight];
        V v[in_flight], xj[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            j[u] = u < left ? load<true>(column + u * warp_size) : padding;
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            xj[u] = j[u] != padding ? gather(x + j[u]) : V(0);
            v[u] = j[u] != padding ? value[at + u * warp_size] : V(0);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            sum += v[u] * xj[u];
            if ((ends >> u & 1) != 0) *sums++ = sum, sum = 0;
        }
    }
    return sum;
}

/// The sum of this lane and of those before it, back to the last in which a row ended. In a fixed
/// order.
template <class V>
__device__ V add_open_rows(V sum, bool row_ended) {
    if (__all_sync(full_warp, row_ended) != 0) return sum;
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const V before = __shfl_up_sync(full_warp, sum, step);
        const bool ended_before = __shfl_up_sync(full_warp, int(row_ended), step) != 0;
        if (lane_id() >= step && !row_ended) sum += before, row_ended = ended_before;
    }
    return sum;
}

/// The rows of a tile to y; those without entries too. sums: one for each row that has some.
template <class End, class V>
__device__ void store_rows(const packed_chunk& c, const std::uint32_t* occupied, const V* sums,
                           End& end, V* __restrict__ y) {
    int before = 0;
    for (int first = 0; first < int(c.rows); first += warp_size) {
        const unsigned some = __ldg(occupied + first / warp_size);
        const int r = first + lane_id();
        const V sum =
            (some >> lane_id() & 1) != 0 ? sums[before + __popc(some & lanes_before())] : V(0);
        if (r < int(c.rows)) end(y + c.first_row + r, c.first_row + r, sum);
        before += __popc(some);
    }
}

/// A tile. sums: this warp's shared memory, for most_tile_rows.
template <class D, class End, class V>
__device__ void multiply_tile(const packed<V, device_view>& A, const packed_chunk* chunk, D value,
                              const V* x, End& end, V* __restrict__ y, V* sums) {
    x = wait_for_previous(x);
    unsigned ends = 0;
    int first = 0;  // the place in sums of the first row that ends in this lane
    V sum = 0;
    {
        const packed_chunk c = load_chunk(chunk);
        const std::uint32_t* const code =
            A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
        const std::uint32_t* const flags = code + words_a_column(c.kind) * c.width;
        ends = __ldg(reinterpret_cast<const std::uint8_t*>(flags) + lane_id());
        first = sum_before(__popc(ends));
        const std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane_id());
        sum = is_narrow(c.kind) ? sum_tile(reinterpret_cast<const std::uint16_t*>(code) + lane_id(),
                                           int(c.width), value, at, x + c.base, ends, sums + first)
                                : sum_tile(code + lane_id(), int(c.width), value, at, x + c.base,
                                           ends, sums + first);
    }
    const V of_lanes_before = __shfl_up_sync(full_warp, add_open_rows(sum, ends != 0), 1);
    if (lane_id() > 0 && ends != 0) sums[first] += of_lanes_before;
    __syncwarp();
    // Read again: in registers until here, the fields would leave room for fewer warps.
    const packed_chunk& c = *chunk;
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    store_rows(c, code + words_a_column(c.kind) * c.width + tile_ends_words, sums, end, y);
}

}  // namespace
}  // namespace nz
