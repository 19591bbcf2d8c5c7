// Filling the streams: how a warp of a GPU writes the indices and values of its chunk.
#pragma once

#include "nonzero/formats/packed/build/windows.cuh"

namespace nz {
namespace {

/// Encodes v as the at-th value.
template <value_encoding C, class V>
__device__ void put_value(const packing<V>& p, std::byte* val, std::size_t at, bool here, V v) {
    if constexpr (C == value_encoding::none) reinterpret_cast<V*>(val)[at] = here ? v : V(0);
    if constexpr (C == value_encoding::float32)
        reinterpret_cast<float*>(val)[at] = here ? float(v) : 0.0F;
    if constexpr (C == value_encoding::dictionary8 || C == value_encoding::dictionary16) {
        unsigned number = 0;
        if (here) {
            const unsigned long long key = key_of(v);
            number = p.found->distinct - 1;  // of the value whose key is that of an empty slot
            if (key != empty_slot) {
                unsigned s = slot_of<V>(key);
                while (p.slots[s] != key) s = (s + 1) % hash_slots<V>;
                number = p.number[s];
            }
        }
        if constexpr (C == value_encoding::dictionary8) {
            reinterpret_cast<std::uint8_t*>(val)[at] = std::uint8_t(number);
        } else {
            reinterpret_cast<std::uint16_t*>(val)[at] = std::uint16_t(number);
        }
    }
}

template <value_encoding C, class V>
__device__ void fill_diagonals(const packing<V>& p, const packed_chunk& c, output<V> to, int lane) {
    std::uint32_t* const code = to.indices + std::size_t(c.index_at) * packed_index_unit;
    const unsigned words = c.kind == packed_chunk::constant_diagonals ? 4 : 2;
    const index row = c.first_row + lane;
    const index len = lane < int(c.rows) ? p.length(row) : 0;
    const offset first = len > 0 ? p.begin(row) : 0;
    diagonal_walk<V> walk(p.A, row, first, first + len, true);
    for (unsigned s = 0; s < c.width; ++s) {
        walk.next();
        const V v = walk.here() ? walk.value : V(0);
        if (walk.here() && unsigned(row + walk.lowest) >= unsigned(p.A.shape.cols))
            p.found->error = input_error::column;
        std::uint32_t word = lane == 0 ? std::uint32_t(walk.lowest) : walk.mask;
        if (c.kind == packed_chunk::constant_diagonals) {
            const auto bits = __shfl_sync(full_warp, bits_of(v), __ffs(int(walk.mask)) - 1);
            if (lane == 2) word = std::uint32_t(bits);
            if (lane == 3) word = std::uint32_t(bits >> 32);
        } else {
            put_value<C>(p, to.val, (std::size_t(c.val_at) + s) * warp_size + unsigned(lane),
                         walk.here(), v);
        }
        if (unsigned(lane) < words) code[s * words + unsigned(lane)] = word;
    }
    for (unsigned k = words * c.width + unsigned(lane); k < 16 * words_of(c); k += warp_size)
        code[k] = 0;
}

/// Every `step`-th entry from k to end, in the column of `lane`; then padding.
template <value_encoding C, class V>
__device__ void fill_lane(const packing<V>& p, const packed_chunk& c, output<V> to, int lane,
                          offset k, offset end, int step) {
    std::uint32_t* const code = to.indices + std::size_t(c.index_at) * packed_index_unit;
    auto* const delta16 = reinterpret_cast<std::uint16_t*>(code);
    for (unsigned s = 0; s < c.width; ++s, k += step) {
        const bool here = k < end;
        const index column = here ? p.A.col_ind[std::size_t(k)] : 0;
        const unsigned distance = here ? unsigned(column - c.base) : padding32;
        const unsigned most = is_narrow(c.kind) ? max_delta16 : max_delta32;
        if (here &&
            (unsigned(column) >= unsigned(p.A.shape.cols) || column < c.base || distance > most))
            p.found->error = input_error::column;
        const std::size_t at = std::size_t(s) * warp_size + unsigned(lane);
        if (is_narrow(c.kind)) {
            delta16[at] = std::uint16_t(distance);
        } else {
            code[at] = distance;
        }
        put_value<C>(p, to.val, std::size_t(c.val_at) * warp_size + at, here,
                     here ? p.A.val[std::size_t(k)] : V(0));
    }
}

template <value_encoding C, class V>
__device__ void fill_listed(const packing<V>& p, const packed_chunk& c, output<V> to, int lane) {
    const int r = lane >> c.log_lanes;
    offset k = 0, end = 0;
    if (r < int(c.rows)) {
        const index row = c.sorted ? to.perm[c.number + r] : c.first_row + r;
        const offset len = p.length(row);
        k = p.begin(row), end = k + len;
        if (c.segments > 0) {
            const offset each = len / c.segments, rest = len % c.segments;
            k += c.number * each + min(offset(c.number), rest);
            end = k + each + (c.number < rest);
        }
        k += lane & ((1 << c.log_lanes) - 1);
    }
    fill_lane<C>(p, c, to, lane, k, end, 1 << c.log_lanes);
}

/// A warp, for a tile: as chunk_encoder::fill_tile on the CPU.
template <value_encoding C, class V>
__device__ void fill_tile(const packing<V>& p, const packed_chunk& c, output<V> to, int lane) {
    std::uint32_t* const code = to.indices + std::size_t(c.index_at) * packed_index_unit;
    std::uint32_t* const ends = code + words_a_column(c.kind) * c.width;
    const offset first = p.begin(c.first_row);
    const offset entries = p.begin(c.first_row + index(c.rows)) - first;
    if (lane < int(tile_ends_words + tile_rows_words)) ends[lane] = 0;
    if (first < 0 || entries < 0 || entries > offset(warp_size) * c.width ||
        first + entries > offset(p.A.val.len)) {
        p.found->error = input_error::row_ptr;
        return;
    }
    __syncwarp();
    for (int r0 = 0; r0 < int(c.rows); r0 += warp_size) {
        const int r = r0 + lane;
        const index row = c.first_row + r;
        const bool some = r < int(c.rows) && p.length(row) > 0;
        const offset last = some ? p.begin(row + 1) - 1 - first : 0;
        if (some && last >= 0 && last < entries) {
            const unsigned of_lane = unsigned(last) / c.width;
            atomicOr(ends + of_lane / 4, 1U << (8 * (of_lane % 4) + unsigned(last) % c.width));
        }
        const unsigned occupied = __ballot_sync(full_warp, some);
        if (lane == 0) ends[tile_ends_words + unsigned(r0) / warp_size] = occupied;
    }
    const offset mine = min(entries, offset(lane) * c.width);
    fill_lane<C>(p, c, to, lane, first + mine, first + min(entries, mine + c.width), 1);
}

/// Last pass: a warp a chunk.
template <value_encoding C, class V>
__global__ void __launch_bounds__(walk_threads)
    fill_chunks(packing<V> p, output<V> to, unsigned chunks) {
    for (std::int64_t first = first_of_block(); first / warp_size < chunks;
         first += step_of_blocks()) {
        const auto k = unsigned((first + threadIdx.x) / warp_size);
        if (k >= chunks) return;
        const packed_chunk c = to.chunks[k];
        if (c.rows == 0) continue;
        if (c.kind <= packed_chunk::diagonals) {
            fill_diagonals<C>(p, c, to, lane_id());
        } else if (is_tile(c.kind)) {
            fill_tile<C>(p, c, to, lane_id());
        } else {
            fill_listed<C>(p, c, to, lane_id());
        }
    }
}

/// Whether b lies right behind a, has the next rows, and its diagonals but for their masks. By a
/// whole warp.
__device__ inline bool have_identical_offsets(const packed_chunk& a, const packed_chunk& b,
                                              const std::uint32_t* indices) {
    if (a.kind > packed_chunk::diagonals || b.kind != a.kind || b.width != a.width) return false;
    if (a.rows != warp_size || b.rows != warp_size || b.first_row != a.first_row + warp_size)
        return false;
    const unsigned words = a.kind == packed_chunk::constant_diagonals ? 4 : 2;
    const std::uint32_t* const of_a = indices + std::size_t(a.index_at) * packed_index_unit;
    const std::uint32_t* const of_b = indices + std::size_t(b.index_at) * packed_index_unit;
    bool same = true;
    for (unsigned k = unsigned(lane_id()); k < words * a.width; k += warp_size)
        same = same && (k % words == 1 || of_a[k] == of_b[k]);
    return __all_sync(full_warp, same) != 0;
}

constexpr unsigned max_identical = 4;

/// Marks the first of every four, or else two, chunks with identical offsets; a warp for every
/// four.
__global__ void __launch_bounds__(walk_threads)
    mark_identical_offsets(packed_chunk* chunks, const std::uint32_t* indices, unsigned count) {
    const unsigned first = (blockIdx.x * walk_threads + threadIdx.x) / warp_size * max_identical;
    const auto is_pair = [&](unsigned k) {
        return k + 1 < count && have_identical_offsets(chunks[k], chunks[k + 1], indices);
    };
    const bool low = is_pair(first), high = is_pair(first + 2);
    const bool all = low && high && is_pair(first + 1);
    __syncwarp();  // all lanes have read what the first overwrites
    if (lane_id() > 0) return;
    if (first < count) chunks[first].identical = all ? 4 : low ? 2 : 0;
    if (first + 2 < count) chunks[first + 2].identical = high ? 2 : 0;
}

}  // namespace
}  // namespace nz
