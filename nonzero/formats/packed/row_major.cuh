// What a warp of a GPU does with a packed chunk and vectors in row-major order: it decodes some
// entries into shared memory, and then its lanes run along the vectors, so that what an entry needs
// of X is one load of neighbouring elements.
#pragma once

#include "nonzero/formats/packed/tiles.cuh"

namespace nz {
namespace {

/// Entries of a chunk that a warp decodes at once. Twice as many would leave half of L1 for X.
constexpr int most_staged = 256;
static_assert(most_staged >= most_tile_entries && most_staged > most_tile_rows);

/// Decoded entries, in a warp's shared memory.
template <class V>
struct alignas(16) staged_entries {
    index col_ind[most_staged];  ///< -1: padding
    V val[most_staged];
    std::uint16_t row_end[most_staged];  ///< of a tile: where each row ends
};

/// An array of vectors on the GPU, in either order.
template <class V>
struct strided_vectors {
    V* first;
    std::size_t row_stride, vector_stride;
    bool wide;  ///< `width` neighbouring elements may be moved at once
};

/// How a warp's lanes run along the vectors: 2^log_lanes of them take a span of `width` each, and
/// the warp's other lanes other entries.
struct vector_lanes {
    int count;       ///< vectors
    int log_lanes;   ///< log2 of the lanes of a span
    unsigned spans;  ///< warps that share a chunk, for a span of vectors each
};

template <int width, class V>
struct alignas(width * sizeof(V)) neighbours {
    V of[width];
};

/// What a lane is for: `width` vectors, from `vector` on, and the entries of its group.
/// side_by_side: the elements of a row of X are neighbours.
template <int width, bool side_by_side, class V>
struct lane_of_vectors {
    using elements = neighbours<width, V>;
    int log_lanes, group, vector;
    bool active;  ///< there are such vectors
    const V* x;   ///< its vector's first element
    std::size_t row_stride, vector_stride;

    __device__ lane_of_vectors(const vector_lanes& along, unsigned span,
                               const strided_vectors<const V>& X)
        : log_lanes(along.log_lanes),
          group(lane_id() >> log_lanes),
          vector(((int(span) << log_lanes) + (lane_id() & ((1 << log_lanes) - 1))) * width),
          active(vector < along.count),
          x(X.first + std::size_t(vector) * X.vector_stride),
          row_stride(X.row_stride),
          vector_stride(X.vector_stride) {}

    [[nodiscard]] __device__ int log_groups() const { return 5 - log_lanes; }

    [[nodiscard]] __device__ elements of_row(index j) const {
        const V* const at = x + std::size_t(j) * row_stride;
        if constexpr (side_by_side) {
            return gather(reinterpret_cast<const elements*>(at));
        } else {
            elements e;
#pragma unroll
            for (int w = 0; w < width; ++w) e.of[w] = gather(at + std::size_t(w) * vector_stride);
            return e;
        }
    }

    /// Adds the products with the staged entries at place + t * stride, for t = first, first + step
    /// and so on below count.
    __device__ void add(const staged_entries<V>& s, int place, int stride, int first, int step,
                        int count, elements& sum) const {
        for (int t = first; t < count; t += in_flight * step) {
            V v[in_flight];
            elements xj[in_flight];
#pragma unroll
            for (int u = 0; u < in_flight; ++u) {
                const int at = place + (t + u * step) * stride;
                const index j = t + u * step < count ? s.col_ind[at] : index(-1);
                v[u] = j >= 0 ? s.val[at] : V(0);
                xj[u] = j >= 0 && active ? of_row(j) : elements{};
            }
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
#pragma unroll
                for (int w = 0; w < width; ++w) sum.of[w] += v[u] * xj[u].of[w];
        }
    }

    /// The sum over 2^log_parts neighbouring groups, in all of them; a fixed tree.
    __device__ void add_groups(int log_parts, elements& sum) const {
        for (int p = 0; p < log_parts; ++p)
#pragma unroll
            for (int w = 0; w < width; ++w)
                sum.of[w] += __shfl_xor_sync(full_warp, sum.of[w], 1 << (log_lanes + p));
    }

    /// Row i of Y, for this lane's vectors.
    __device__ void store(const strided_vectors<V>& Y, index i, V alpha, const elements& sum,
                          V beta) const {
        V* const to =
            Y.first + std::size_t(i) * Y.row_stride + std::size_t(vector) * Y.vector_stride;
        if (Y.wide) {
            auto* const all = reinterpret_cast<elements*>(to);
            elements y = beta == V(0) ? elements{} : *all;
#pragma unroll
            for (int w = 0; w < width; ++w) store_scaled(y.of + w, alpha, sum.of[w], beta);
            *all = y;
            return;
        }
#pragma unroll
        for (int w = 0; w < width; ++w)
            store_scaled(to + std::size_t(w) * Y.vector_stride, alpha, sum.of[w], beta);
    }
};

/// Part of a chunk: 2^log_rows rows from `row` on, `steps` stored entries of each of their lanes
/// from `step` on.
struct chunk_part {
    int row, log_rows, step, steps;
};

/// The rows and steps that are staged at once: all steps of as many rows as fit, or as many steps
/// of one row.
__device__ inline chunk_part first_part(const packed_chunk& c) {
    int log_rows = 5 - int(c.log_lanes);
    while (log_rows > 0 && int(c.width) << (log_rows + c.log_lanes) > most_staged) --log_rows;
    return {0, log_rows, 0, min(int(c.width), most_staged >> (log_rows + c.log_lanes))};
}

/// f(step, lane, where it is staged) for every place of the part, by the whole warp: the entries of
/// row r, t = 0, 1 ..., at r + (t << log_rows), so that groups with a row each read side by side.
template <class F>
__device__ void for_each_place(const packed_chunk& c, const chunk_part& p, F f) {
    const int log = c.log_lanes, log_places = p.log_rows + log;
#pragma unroll 4
    for (int q = lane_id(); q < p.steps << log_places; q += warp_size) {
        const int k = q >> log_places, l = q & ((1 << log_places) - 1);
        f(p.step + k, (p.row << log) + l,
          (((k << log) + (l & ((1 << log) - 1))) << p.log_rows) + (l >> log));
    }
}

template <class Column, class D, class V>
__device__ void stage_list(const Column* __restrict__ column, const packed_chunk& c,
                           const chunk_part& p, D value, std::size_t at, staged_entries<V>& to) {
    for_each_place(c, p, [&](int step, int lane, int place) {
        const int k = step * warp_size + lane;
        const Column j = load<true>(column + k);
        to.col_ind[place] = j == Column(-1) ? index(-1) : c.base + index(j);
        to.val[place] = value[at + unsigned(k)];
    });
}

/// Decodes part of a chunk of whole rows or of a segment.
template <class D, class V>
__device__ void stage(const packed<V, device_view>& A, const packed_chunk& c, const chunk_part& p,
                      D value, staged_entries<V>& to) {
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * warp_size;
    if (c.kind == packed_chunk::delta16)
        return stage_list(reinterpret_cast<const std::uint16_t*>(code), c, p, value, at, to);
    if (c.kind == packed_chunk::delta32) return stage_list(code, c, p, value, at, to);
    const bool constant = c.kind == packed_chunk::constant_diagonals;
    for_each_place(c, p, [&](int step, int lane, int place) {
        int4 d{};
        if (constant) {
            d = __ldg(reinterpret_cast<const int4*>(code) + step);
        } else {
            const int2 w = __ldg(reinterpret_cast<const int2*>(code) + step);
            d.x = w.x, d.y = w.y;
        }
        to.col_ind[place] = (unsigned(d.y) >> lane & 1) != 0 ? c.first_row + lane + d.x : index(-1);
        to.val[place] = constant ? value_of(d, V()) : value[at + unsigned(step * warp_size + lane)];
    });
}

/// Decodes a tile, its entries in the order of its rows, and finds where these end.
template <class D, class V>
__device__ void stage_tile(const packed<V, device_view>& A, const packed_chunk& c, D value,
                           staged_entries<V>& to) {
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane_id());
    const int lane = lane_id(), first = lane * int(c.width);
    for (int k = 0; k < int(c.width); ++k) {
        const int place = k * warp_size + lane;
        const std::uint32_t j =
            is_narrow(c.kind) ? load<true>(reinterpret_cast<const std::uint16_t*>(code) + place)
                              : load<true>(code + place);
        const std::uint32_t padding = is_narrow(c.kind) ? padding16 : padding32;
        to.col_ind[first + k] = j == padding ? index(-1) : c.base + index(j);
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

/// A chunk of whole rows.
template <int width, bool side_by_side, class D, class V>
__device__ void multiply_rows(const packed<V, device_view>& A, const packed_chunk& c, D value,
                              lane_of_vectors<width, side_by_side, V> lane, V alpha, V beta,
                              const strided_vectors<V>& Y, staged_entries<V>& s) {
    const index row_of_lane = lane_id() >= int(c.rows) ? index(-1)
                              : c.sorted               ? __ldg(A.perm.ptr + c.number + lane_id())
                                                       : c.first_row + lane_id();
    chunk_part part = first_part(c);
    const int rows = 1 << part.log_rows, most_steps = part.steps;
    // Groups take a row each; where there are fewer rows, several groups share one.
    const int log_shared = max(lane.log_groups() - part.log_rows, 0);
    const int parallel = 1 << (lane.log_groups() - log_shared);
    const int share = lane.group & ((1 << log_shared) - 1);
    for (; part.row < int(c.rows); part.row += rows) {
        neighbours<width, V> sum{};
        part.step = 0;
        do {
            part.steps = min(most_steps, int(c.width) - part.step);
            stage(A, c, part, value, s);
            lane.x = wait_for_previous(lane.x);
            __syncwarp();
            for (int r = lane.group >> log_shared; r < rows; r += parallel) {
                lane.add(s, r, rows, share, 1 << log_shared, part.steps << c.log_lanes, sum);
                if (part.step + part.steps < int(c.width)) continue;  // of one row then
                lane.add_groups(log_shared, sum);
                const index i = __shfl_sync(full_warp, row_of_lane, part.row + r);
                if (i >= 0 && share == 0 && lane.active) lane.store(Y, i, alpha, sum, beta);
                sum = {};
            }
            part.step += part.steps;
            __syncwarp();  // before s is written again
        } while (part.step < int(c.width));
    }
}

/// A tile: groups take a row each.
template <int width, bool side_by_side, class D, class V>
__device__ void multiply_tile_rows(const packed<V, device_view>& A, const packed_chunk& c, D value,
                                   lane_of_vectors<width, side_by_side, V> lane, V alpha, V beta,
                                   const strided_vectors<V>& Y, staged_entries<V>& s) {
    stage_tile(A, c, value, s);
    lane.x = wait_for_previous(lane.x);
    for (int r = lane.group; r < int(c.rows); r += 1 << lane.log_groups()) {
        const int begin = r > 0 ? s.row_end[r - 1] : 0;
        neighbours<width, V> sum{};
        lane.add(s, begin, 1, 0, 1, s.row_end[r] - begin, sum);
        if (lane.active) lane.store(Y, c.first_row + r, alpha, sum, beta);
    }
}

/// What a segment sums to, in all groups.
template <int width, bool side_by_side, class D, class V>
__device__ neighbours<width, V> sum_segment(const packed<V, device_view>& A, const packed_chunk& c,
                                            D value, lane_of_vectors<width, side_by_side, V>& lane,
                                            staged_entries<V>& s) {
    neighbours<width, V> sum{};
    chunk_part part = first_part(c);
    const int most_steps = part.steps;
    for (; part.step < int(c.width); part.step += part.steps) {
        part.steps = min(most_steps, int(c.width) - part.step);
        stage(A, c, part, value, s);
        lane.x = wait_for_previous(lane.x);
        __syncwarp();
        lane.add(s, 0, 1, lane.group, 1 << lane.log_groups(), part.steps * warp_size, sum);
        __syncwarp();
    }
    lane.add_groups(lane.log_groups(), sum);
    return sum;
}

}  // namespace
}  // namespace nz
