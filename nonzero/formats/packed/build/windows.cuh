// How a block of a GPU cuts a window of rows into chunks, and where these go. Over 500 lines, as
// its functions are the steps of one kernel and share its block's memory.
#pragma once

#include <cub/block/block_scan.cuh>

#include "nonzero/formats/packed/build/diagonals.cuh"

namespace nz {
namespace {

constexpr int window_threads = 1024;  // a warp for each group of 32 rows
constexpr int window_warps = window_threads / warp_size;
static_assert(window_threads == packed_window);
constexpr int groups_per_window = packed_window / warp_size;
constexpr int lane_classes = 6;  // 1, 2, 4 .. 32 lanes a row

/// Two tiles in a row are full: of entries, or of rows. A row that no tile holds counts as one.
constexpr int most_tiles_a_window = 2 * (most_tiled_entries / (most_tile_entries + 1) + 1) +
                                    2 * (packed_window / most_tile_rows + 1);

/// One block's knowledge of its window, in shared memory.
struct window {
    index first, rows;  ///< first row in the matrix, and rows of the window
    index lane_width;
    index len[packed_window];                       ///< the lengths of its rows
    index low[packed_window], high[packed_window];  ///< first and last column of those listed
    unsigned key[packed_window];  ///< keys of rows to be sorted: length, then order; else 0
    packed_chunk chunks[packed_window];
    unsigned diagonal_groups, constant_groups;  ///< bits
    int diagonals[groups_per_window];
    int class_rows[lane_classes], class_first[lane_classes], class_chunk[lane_classes];
    int group_chunk[groups_per_window + 1];
    int kept_width, sorted_width, kept_entries;
    int chunk_count, rest_rows;
    int tile_first[most_tiles_a_window + 1];  ///< the first row of each tile, and the last's end
    int tiles, tile_width;
    bool any_long;
};

/// The kind and the base of a warp's chunk of rows, counted within the window; -1 where a lane has
/// none.
__device__ inline packed_chunk rows_chunk(const window& w, index r, int log) {
    const index len = r >= 0 ? w.len[r] : 0;
    const index least = warp_min(len > 0 ? w.low[r] : INT_MAX);
    const index most = warp_max(len > 0 ? w.high[r] : 0);
    const index longest = warp_max(len);
    packed_chunk c;
    c.base = longest == 0 ? 0 : least;
    c.kind = most - c.base <= index(max_delta16) ? packed_chunk::delta16 : packed_chunk::delta32;
    c.log_lanes = std::uint8_t(log);
    c.width = std::uint16_t((longest + (1 << log) - 1) >> log);
    c.rows = std::uint8_t(__popc(__ballot_sync(full_warp, r >= 0)));
    return c;
}

__device__ inline unsigned words_of(const packed_chunk& c) {
    return words_of(c.kind, c.width) / packed_index_unit;
}
__device__ inline unsigned values_of(const packed_chunk& c) {
    return c.kind == packed_chunk::constant_diagonals ? 0 : c.width;
}

__device__ inline bool by_diagonals(const window& w, index r) {
    return (w.diagonal_groups >> (r / warp_size) & 1) != 0;
}

/// The lanes a row and the width in all of a group of rows that keep their order.
__device__ inline int kept_group(index lane_width, index len, int& width) {
    const int log = log_lanes_for(warp_max(len), lane_width);
    const int each = warp_size >> log;
    index longest = len;
    for (int step = each / 2; step > 0; step /= 2)
        longest = max(longest, __shfl_xor_sync(full_warp, longest, step));
    const bool first = int(threadIdx.x) % warp_size % each == 0;
    width = warp_sum(first ? (longest + (1 << log) - 1) >> log : 0);
    return log;
}

__device__ inline void count_kept_width(window& w) {
    const int warp = int(threadIdx.x) / warp_size, lane = lane_id();
    for (int g = warp; g < groups_per_window; g += window_warps) {
        int chunks = 0;
        if (g * warp_size < w.rows && w.diagonals[g] == 0) {
            const index r = g * warp_size + lane, len = r < w.rows ? w.len[r] : 0;
            int width = 0;
            const int log = kept_group(w.lane_width, len, width), entries = warp_sum(len);
            const int rows = min(int(warp_size), w.rows - g * warp_size), each = warp_size >> log;
            chunks = (rows + each - 1) / each;
            if (lane == 0) atomicAdd(&w.kept_width, width), atomicAdd(&w.kept_entries, entries);
        }
        if (lane == 0) w.group_chunk[g + 1] = chunks;
    }
}

/// Sorts the keys, a thread each, descending: by a bitonic network, whose short width stay within
/// a warp's registers.
__device__ inline void sort_keys(window& w) {
    const int t = int(threadIdx.x);
    unsigned mine = w.key[t];
    for (int width = 2; width <= packed_window; width *= 2)
        for (int step = width / 2; step > 0; step /= 2) {
            unsigned other;
            if (step >= warp_size) {
                w.key[t] = mine;
                __syncthreads();
                other = w.key[t ^ step];
                __syncthreads();
            } else {
                other = __shfl_xor_sync(full_warp, mine, step);
            }
            const bool greater = ((t & width) == 0) == ((t & step) == 0);
            mine = greater ? max(mine, other) : min(mine, other);
        }
    w.key[t] = mine;
    __syncthreads();
}
__device__ inline index row_of_key(unsigned key) { return index(1023 - ((key - 1) & 1023)); }
__device__ inline index length_of_key(unsigned key) { return index((key - 1) >> 10); }

/// Where each class of rows with the same number of lanes starts in the sorted order, and its
/// chunks in theirs. Longer rows, with more lanes, come first.
__device__ inline void classify(window& w) {
    const int k = int(threadIdx.x);
    const index len = w.key[k] != 0 ? length_of_key(w.key[k]) : 0;
    const int log = w.key[k] != 0 ? log_lanes_for(len, w.lane_width) : -1;
    for (int c = 0; c < lane_classes; ++c) {
        const int of_warp = __popc(__ballot_sync(full_warp, log == c));
        if (lane_id() == 0 && of_warp > 0) atomicAdd(&w.class_rows[c], of_warp);
    }
    __syncthreads();
    if (k == 0) {
        int rows = 0, chunks = 0;
        for (int log = lane_classes - 1; log >= 0; --log) {
            w.class_first[log] = rows, w.class_chunk[log] = chunks;
            rows += w.class_rows[log];
            const int each = warp_size >> log;
            chunks += (w.class_rows[log] + each - 1) / each;
        }
        w.rest_rows = rows, w.chunk_count = chunks;
    }
    __syncthreads();
    const bool leads = log >= 0 && (k - w.class_first[log]) % (warp_size >> log) == 0;
    const int width = warp_sum(leads ? (len + (1 << log) - 1) >> log : 0);
    if (lane_id() == 0 && width > 0) atomicAdd(&w.sorted_width, width);
    __syncthreads();
}

/// The chunks of sorted rows, from chunk `from` on.
__device__ inline void cut_sorted(window& w, int from) {
    const int warp = int(threadIdx.x) / warp_size, lane = lane_id();
    for (int c = warp; c < w.chunk_count; c += window_warps) {
        int log = 0;
        while (log < lane_classes - 1 && (w.class_rows[log] == 0 || c < w.class_chunk[log])) ++log;
        const int each = warp_size >> log;
        const int k = w.class_first[log] + (c - w.class_chunk[log]) * each;
        const int rows = min(each, w.class_first[log] + w.class_rows[log] - k);
        const index r = lane < rows ? row_of_key(w.key[k + lane]) : -1;
        packed_chunk chunk = rows_chunk(w, r, log);
        chunk.first_row = w.first + __shfl_sync(full_warp, r, 0);
        chunk.sorted = true;
        chunk.number = k;
        if (lane == 0) w.chunks[from + c] = chunk;
    }
}

/// The chunks of rows in order, from chunk `from` on.
__device__ inline void cut_kept(window& w, int from) {
    const int warp = int(threadIdx.x) / warp_size, lane = lane_id();
    for (int g = warp; g * warp_size < w.rows; g += window_warps) {
        if (w.diagonals[g] > 0) continue;
        const index r = g * warp_size + lane;
        int width = 0;
        const int log = kept_group(w.lane_width, r < w.rows ? w.len[r] : 0, width);
        const int each = warp_size >> log;
        for (int s = 0; s * each < min(int(warp_size), w.rows - g * warp_size); ++s) {
            const index mine = g * warp_size + s * each + lane;
            packed_chunk chunk = rows_chunk(w, lane < each && mine < w.rows ? mine : -1, log);
            chunk.first_row = w.first + g * warp_size + s * each;
            if (lane == 0) w.chunks[from + w.group_chunk[g] + s] = chunk;
        }
    }
}

/// Cuts the window into tiles by one thread: where each starts. A row that no tile holds counts as
/// one.
template <class V>
__device__ void find_tiles(const packing<V>& p, window& w) {
    const auto start_of = [&](index r) { return p.begin(w.first + r); };
    int tiles = 0;
    for (index r = 0; r < w.rows; ++tiles) {
        index low = r, high = min(r + most_tile_rows, w.rows);  // the most rows that fit
        while (low < high) {
            const index middle = (low + high + 1) / 2;
            if (start_of(middle) - start_of(r) <= most_tile_entries) {
                low = middle;
            } else {
                high = middle - 1;
            }
        }
        if (tiles == most_tiles_a_window) return;
        low = max(low, r + 1);
        w.tile_first[tiles] = r;
        w.tile_width += int((start_of(low) - start_of(r) + warp_size - 1) / warp_size);
        r = low;
    }
    w.tile_first[tiles] = w.rows;
    w.tiles = tiles;
}

/// Whether tiles take less than lists, `sorted` or not; all threads learn it.
template <class V>
__device__ bool choose_tiles(const packing<V>& p, window& w, bool sorted) {
    if (p.options.tile_gain == HUGE_VAL || p.has_table() || w.any_long || w.diagonal_groups != 0)
        return false;
    if (threadIdx.x == 0) {
        w.tiles = w.tile_width = 0;
        const list_size lists{sorted ? w.sorted_width : w.kept_width, w.chunk_count,
                              sorted ? w.rest_rows : 0};
        const offset entries = p.begin(w.first + w.rows) - p.begin(w.first);
        const auto pay = [&](offset width) {
            return lists.takes_more_than(sizeof(V), width, w.tiles, p.options.tile_gain);
        };
        // Most windows end here, as tiles cannot be smaller than their entries.
        if (entries >= 0 && entries <= most_tiled_entries && pay(entries / warp_size))
            find_tiles(p, w);
        if (!pay(w.tile_width)) w.tiles = 0;
    }
    __syncthreads();
    return w.tiles > 0;
}

/// The chunks of tiles, and of the rows among them that no tile holds.
template <class V>
__device__ void cut_tiles(const packing<V>& p, window& w) {
    for (int t = int(threadIdx.x) / warp_size; t < w.tiles; t += window_warps) {
        const index first = w.tile_first[t], end = w.tile_first[t + 1];
        index least = INT_MAX, most = 0;
        for (index r = first + lane_id(); r < end; r += warp_size)
            if (w.len[r] > 0) least = min(least, w.low[r]), most = max(most, w.high[r]);
        least = warp_min(least), most = warp_max(most);
        const auto entries = int(p.begin(w.first + end) - p.begin(w.first + first));
        packed_chunk c;
        const bool fits = entries <= most_tile_entries;
        c.base = entries == 0 ? 0 : least;
        c.kind = most - c.base <= index(max_delta16)
                     ? (fits ? packed_chunk::tile16 : packed_chunk::delta16)
                     : (fits ? packed_chunk::tile32 : packed_chunk::delta32);
        if (!fits) c.log_lanes = lanes_of_long_row;
        c.width = std::uint16_t((entries + warp_size - 1) / warp_size);
        c.rows = std::uint8_t(end - first);
        c.first_row = w.first + first;
        if (lane_id() == 0) w.chunks[t] = c;
    }
    if (threadIdx.x == 0) w.chunk_count = w.tiles;
}

/// The chunks of diagonals, which come first.
__device__ inline void cut_diagonals(window& w) {
    const int g = int(threadIdx.x);
    if (g >= groups_per_window || (w.diagonal_groups >> g & 1) == 0) return;
    packed_chunk c;
    c.first_row = w.first + g * warp_size;
    c.rows = std::uint8_t(min(int(warp_size), w.rows - g * warp_size));
    c.width = std::uint16_t(w.diagonals[g]);
    const bool constant = (w.constant_groups >> g & 1) != 0;
    c.kind = constant ? packed_chunk::constant_diagonals : packed_chunk::diagonals;
    w.chunks[__popc(w.diagonal_groups & ((1U << g) - 1))] = c;
}

using block_scan = cub::BlockScan<unsigned long long, window_threads>;

/// Sets the places of the window's chunks, a thread each, one after the other, and returns their
/// sum.
__device__ inline stream_extent place_chunks(window& w, int count,
                                             block_scan::TempStorage& storage) {
    const int c = int(threadIdx.x);
    unsigned long long mine = 0, sum = 0, before = 0;
    if (c < count)
        mine =
            static_cast<unsigned long long>(words_of(w.chunks[c])) << 32 | values_of(w.chunks[c]);
    block_scan(storage).ExclusiveSum(mine, before, sum);
    if (c < count) {
        w.chunks[c].index_at = unsigned(before >> 32);
        w.chunks[c].val_at = unsigned(before & 0xffffffffU);
    }
    __syncthreads();
    stream_extent all;
    all.words = sum >> 32, all.values = sum & 0xffffffffU;
    return all;
}

/// Where the segments of each long row start among the window's, as chunk_partitioner::add_segments
/// puts them.
struct long_rows {
    int count;
    index row[packed_window];
    unsigned first[packed_window + 1];
};

/// Turns the rows' numbers of segments into the places where these start, by one thread. It loads
/// some at once, so that it waits for shared memory once for all of them.
__device__ inline void place_long_rows(long_rows& l) {
    constexpr int at_once = 8;
    constexpr auto block = unsigned(packed_block);
    unsigned at = 0;
    for (int k = 0; k < l.count; k += at_once) {
        unsigned segments[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) segments[u] = k + u < l.count ? l.first[k + u] : 0;
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            const unsigned taken = at % block;
            if (taken > 0 && taken + segments[u] > block) at += block - taken;
            if (k + u < l.count) l.first[k + u] = at;
            at += segments[u];
        }
    }
    l.first[l.count] = (at + block - 1) / block * block;
}

/// Finds the long rows, in order, and their places. By the whole block, a row a thread.
template <class V>
__device__ void find_long_rows(const packing<V>& p, const index* len, index rows, long_rows& l) {
    __shared__ int of_warp[window_warps];
    const int warp = int(threadIdx.x) / warp_size;
    const index r = index(threadIdx.x);
    const bool is_long = r < rows && len[r] > p.options.split;
    const unsigned mask = __ballot_sync(full_warp, is_long);
    if (lane_id() == 0) of_warp[warp] = __popc(mask);
    __syncthreads();
    int before = __popc(mask & lanes_before());
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    if (is_long) {
        l.row[before] = r;
        l.first[before] = unsigned((len[r] + p.options.split - 1) / p.options.split);
    }
    if (r == packed_window - 1) l.count = before + is_long;
    __syncthreads();
    if (r == 0) place_long_rows(l);
    __syncthreads();
}

/// The q-th chunk of the window's segments, without its places.
template <class V>
__device__ packed_chunk segment_chunk(const packing<V>& p, index window_first, const index* len,
                                      const long_rows& l, unsigned q) {
    int low = 0, high = l.count;  // the last row that starts at or before q
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (l.first[middle] <= q ? low : high) = middle;
    }
    const index r = l.row[low], split = p.options.split;
    const index segments = (len[r] + split - 1) / split, part = index(q - l.first[low]);
    packed_chunk c;
    if (part >= segments) return c;  // fills up a GPU block
    const offset each = len[r] / segments, rest = len[r] % segments;
    const offset first = part * each + min(offset(part), rest);
    const offset count = each + (part < rest);
    const offset begin = p.begin(window_first + r) + first;
    c.base = p.A.col_ind[std::size_t(begin)];
    const index most = p.A.col_ind[std::size_t(begin + count - 1)];
    c.kind = most - c.base <= index(max_delta16) ? packed_chunk::delta16 : packed_chunk::delta32;
    c.log_lanes = 5, c.rows = 1;
    c.width = std::uint16_t((count + warp_size - 1) / warp_size);
    c.first_row = window_first + r, c.number = part, c.segments = segments;
    return c;
}

/// f(q, chunk) for every part of the window, its places set from `start` on; returns their sum.
template <class V, class F>
__device__ stream_extent place_segments(const packing<V>& p, index window_first, const index* len,
                                        const long_rows& l, stream_extent start,
                                        block_scan::TempStorage& storage, F f) {
    const unsigned count = l.first[l.count];
    for (unsigned q0 = 0; q0 < count; q0 += window_threads) {
        const unsigned q = q0 + threadIdx.x;
        packed_chunk c;
        if (q < count) c = segment_chunk(p, window_first, len, l, q);
        unsigned long long before = 0, sum = 0;
        block_scan(storage).ExclusiveSum(
            static_cast<unsigned long long>(words_of(c)) << 32 | values_of(c), before, sum);
        __syncthreads();
        if (q < count && c.rows > 0) {
            c.index_at = unsigned(start.words + (before >> 32));
            c.val_at = unsigned(start.values + (before & 0xffffffffU));
        }
        if (q < count) f(q, c);
        start.words += sum >> 32, start.values += sum & 0xffffffffU;
    }
    return start;
}

/// The tiles and the widths of the chunks that a thread met.
struct width_counts {
    int all = 0, of_diagonals = 0, of_tiles = 0, longest = 0, tiles = 0;
    __device__ void add(const packed_chunk& c) {
        all += c.width, longest = max(longest, int(c.width));
        if (is_tile(c.kind)) of_tiles += c.width, ++tiles;
        if (c.kind <= packed_chunk::diagonals) of_diagonals += c.width;
    }
    /// By a whole warp.
    __device__ void note(analysis_counters* to) const {
        const int a = warp_sum(all), d = warp_sum(of_diagonals), m = warp_max(longest);
        const int t = warp_sum(tiles), w = warp_sum(of_tiles);
        if (lane_id() > 0) return;
        if (t > 0) {
            atomicAdd(&to->tiles, static_cast<unsigned long long>(t));
            atomicAdd(&to->tile_width, static_cast<unsigned long long>(w));
        }
        if (a == 0) return;
        atomicAdd(&to->width, static_cast<unsigned long long>(a));
        if (d > 0) atomicAdd(&to->diagonal_width, static_cast<unsigned long long>(d));
        if (unsigned(m) > __ldcg(&to->max_width)) atomicMax(&to->max_width, unsigned(m));
    }
};

/// Reports columns out of range, and counts those that are not above the one before: find_diagonals
/// takes off those that start a row, so that none are left where all rows ascend.
template <class V>
__device__ void check_columns(const packing<V>& p) {
    constexpr int at_once = 4;
    const index* const c = p.A.col_ind.ptr;
    const std::size_t nnz = p.A.col_ind.len, threads = std::size_t(gridDim.x) * blockDim.x;
    unsigned long long descents = 0;
    bool outside = false;
    for (std::size_t k = std::size_t(blockIdx.x) * blockDim.x + threadIdx.x; k < nnz;
         k += at_once * threads) {
        index now[at_once], before[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            const std::size_t at = min(k + u * threads, nnz - 1);
            now[u] = c[at], before[u] = at > 0 ? c[at - 1] : -1;
        }
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            outside = outside || unsigned(now[u]) >= unsigned(p.A.shape.cols);
            descents += k + u * threads < nnz && now[u] <= before[u];
        }
    }
    add_of_block(&p.found->descents, descents);
    if (outside) p.found->error = input_error::column;
}

/// The values in a table, and a check of the columns unless they are known to be in order.
template <class V>
__global__ void look_at_entries(packing<V> p) {
    find_values(p.A.val.ptr, p.A.val.len, 1, p.slots, p.unsorted, p.found);
    if (!p.in_order) check_columns(p);
}

/// Counts a group of 32 rows, a row a lane, as lists; a lane without a row has len -1.
template <class V>
__device__ void forecast_lists(const packing<V>& p, index row, index len, list_forecast& all) {
    const bool listed = len >= 0 && len <= p.options.split;
    index least = INT_MAX, most = -1;
    if (listed && len > 0) {
        const auto first = std::size_t(p.begin(row));
        least = p.A.col_ind[first], most = p.A.col_ind[first + std::size_t(len) - 1];
    }
    least = warp_min(least), most = warp_max(most);
    const int entries = warp_sum(listed ? len : 0);
    const int lanes = warp_sum(listed ? 1 << log_lanes_for(len, p.options.lane_width) : 0);
    if (lane_id() > 0) return;
    all.entries += unsigned(entries), all.lanes += unsigned(lanes);
    if (std::int64_t(most) - least > std::int64_t(max_delta16))
        all.far_entries += unsigned(entries);
}

/// First pass: tries every group of 32 rows, a warp each, as a chunk of diagonals.
template <class V>
__global__ void __launch_bounds__(walk_threads) find_diagonals(packing<V> p) {
    const std::int64_t rows = p.A.shape.rows;
    unsigned long long descents = 0;
    list_forecast lists;
    for (std::int64_t first = first_of_block(); first < rows; first += step_of_blocks()) {
        const std::int64_t i = first + threadIdx.x;
        const auto row = index(min(i, rows));
        const index len = i < rows ? p.length(row) : 0;
        if (!p.in_order) descents += starts_below(p, row, len);
        if (p.options.few_chunks > 0) forecast_lists(p, row, i < rows ? len : -1, lists);
        const bool any_long = __any_sync(full_warp, len > p.options.split) != 0;
        const group_diagonals found = any_long ? group_diagonals{} : find_group(p, row, len);
        if (lane_id() == 0 && i < rows) p.groups[i / warp_size] = found;
    }
    if (!p.in_order) add_of_block(&p.found->descents, 0 - descents);
    if (p.options.few_chunks == 0) return;
    add_of_block(&p.found->lists.entries, lists.entries);
    add_of_block(&p.found->lists.far_entries, lists.far_entries);
    add_of_block(&p.found->lists.lanes, lists.lanes);
}

/// Counts the neighbouring groups of diagonals that may be multiplied together, a group a lane.
template <class V>
__device__ void note_pairs(const packing<V>& p, const group_diagonals& of, bool whole) {
    const bool suits = whole && of.count > 0 && (of.same != 0) == p.has_table();
    const unsigned offsets = __shfl_down_sync(full_warp, of.offsets, 1);
    const int count = __shfl_down_sync(full_warp, suits ? int(of.count) : 0, 1);
    const bool pair =
        suits && lane_id() < warp_size - 1 && count == of.count && offsets == of.offsets;
    const unsigned pairs = unsigned(__popc(__ballot_sync(full_warp, pair)));
    if (lane_id() == 0 && pairs > 0) atomicAdd(&p.found->pairs, pairs);
}

/// The lengths of the window's rows, a thread each, and its groups of diagonals.
template <class V>
__device__ void enter_window(const packing<V>& p, window& w, index first) {
    const index r = index(threadIdx.x), rows = min(packed_window, p.A.shape.rows - first);
    if (r == 0) w.first = first, w.rows = rows, w.kept_width = w.sorted_width = w.chunk_count = 0;
    if (r == 0) w.kept_entries = w.group_chunk[0] = 0;
    if (r == 0) w.lane_width = p.found->lists.lane_width(p.options);
    if (r < lane_classes) w.class_rows[r] = 0;
    if (r < groups_per_window) {
        const bool some = r * warp_size < rows;
        const auto of = some ? p.groups[first / warp_size + r] : group_diagonals{};
        w.diagonals[r] = of.count;
        w.diagonal_groups = __ballot_sync(full_warp, of.count > 0);
        w.constant_groups = __ballot_sync(full_warp, of.same != 0);
        note_pairs(p, of, (r + 1) * warp_size <= rows);
    }
    const index len = w.len[r] = r < rows ? p.length(first + r) : 0;
    w.any_long = __syncthreads_or(len > p.options.split) != 0;
}

/// Cuts the rows that are not stored by diagonals, from chunk `from` on; true where they were
/// sorted.
template <class V>
__device__ bool cut_listed(const packing<V>& p, window& w, int from) {
    const auto pays = [&](int sorted_width) {
        return w.any_long || double(w.kept_width) > p.options.sort_gain * double(sorted_width);
    };
    if (!w.any_long) count_kept_width(w);
    __syncthreads();
    bool sorted = pays((w.kept_entries + warp_size - 1) / warp_size);  // no order has less
    if (sorted) {
        sort_keys(w);
        classify(w);
        sorted = pays(w.sorted_width);
    }
    if (!sorted && threadIdx.x == 0) {
        for (int g = 0; g < groups_per_window; ++g) w.group_chunk[g + 1] += w.group_chunk[g];
        w.chunk_count = w.group_chunk[groups_per_window];
    }
    __syncthreads();
    if (choose_tiles(p, w, sorted)) {
        cut_tiles(p, w);
        return false;
    }
    if (sorted) {
        cut_sorted(w, from);
    } else {
        cut_kept(w, from);
    }
    return sorted;
}

/// Second pass: cuts one window a block into chunks of whole rows, and measures it.
template <class V>
__global__ void __launch_bounds__(window_threads) cut_windows(packing<V> p) {
    extern __shared__ char memory[];
    window& w = *reinterpret_cast<window*>(memory);
    long_rows& l = *reinterpret_cast<long_rows*>(w.chunks);  // after the chunks are written out
    __shared__ block_scan::TempStorage storage;
    const index first = index(blockIdx.x) * packed_window, r = index(threadIdx.x);
    enter_window(p, w, first);
    const bool listed = r < w.rows && !by_diagonals(w, r) && w.len[r] <= p.options.split;
    if (listed && w.len[r] > 0) {
        const offset begin = p.begin(first + r);
        w.low[r] = p.A.col_ind[std::size_t(begin)];
        w.high[r] = p.A.col_ind[std::size_t(begin + w.len[r] - 1)];
    }
    w.key[r] = listed ? (unsigned(w.len[r]) << 10 | unsigned(1023 - r)) + 1 : 0;
    const int from = __popc(w.diagonal_groups);
    const bool sorted = __syncthreads_or(listed) != 0 && cut_listed(p, w, from);
    cut_diagonals(w);
    __syncthreads();
    const int count = from + w.chunk_count;
    stream_extent all = place_chunks(w, count, storage);
    window_chunks& cut = p.cuts[blockIdx.x];
    width_counts counts;
    if (r < count) {
        counts.add(w.chunks[r]);
        cut.chunks[r] = w.chunks[r];
    }
    if (sorted && r < w.rest_rows) cut.order[r] = std::uint16_t(row_of_key(w.key[r]));
    __syncthreads();
    if (w.any_long) {
        find_long_rows(p, w.len, w.rows, l);
        all = place_segments(p, first, w.len, l, all, storage,
                             [&](unsigned, const packed_chunk& c) { counts.add(c); });
        all.segments = l.first[l.count];
    }
    counts.note(p.found);
    all.chunks = unsigned(count);
    all.perm = sorted ? unsigned(w.rest_rows) : 0;
    if (r == 0) p.sizes[blockIdx.x] = all;
}

/// Forgets what cut_windows counted, before it cuts again.
__global__ void forget_widths(analysis_counters* of) {
    of->max_width = of->pairs = 0;
    of->width = of->diagonal_width = of->tile_width = of->tiles = 0;
}

constexpr int sum_threads = 256;

/// Turns sizes into starts, and stores the sum of all, by one block.
template <class V>
__global__ void __launch_bounds__(sum_threads) sum_sizes(packing<V> p, unsigned windows) {
    using scan = cub::BlockScan<stream_extent, sum_threads>;
    __shared__ typename scan::TempStorage storage;
    stream_extent start;
    for (unsigned w0 = 0; w0 < windows; w0 += sum_threads) {
        const unsigned w = w0 + threadIdx.x;
        const stream_extent mine = w < windows ? p.sizes[w] : stream_extent{};
        stream_extent before, sum;
        scan(storage).ExclusiveScan(mine, before, stream_extent{}, add_sizes{}, sum);
        __syncthreads();
        if (w < windows) p.sizes[w] = add_sizes{}(start, before);
        start = add_sizes{}(start, sum);
    }
    if (threadIdx.x > 0) return;
    if (p.found->descents != 0 && p.found->error == input_error::none)
        p.found->error = input_error::column;
    *p.result = {start, *p.found};
    if (p.told != nullptr) *p.told = *p.result;
}

/// Arrays that the second and third pass write.
template <class V>
struct output {
    packed_chunk* chunks;
    index* perm;
    std::uint32_t* indices;
    std::byte* val;
    V* table;
    unsigned table_values, segment_chunks;
};

/// Third pass: the chunks of one window a block, with their final places; and the table, which a
/// copy of its own would take another call for.
template <class V>
__global__ void __launch_bounds__(window_threads)
    place_windows(packing<V> p, output<V> to, unsigned windows) {
    __shared__ index len[packed_window];
    __shared__ long_rows l;
    __shared__ block_scan::TempStorage storage;
    const index first = index(blockIdx.x) * packed_window;
    const index rows = min(packed_window, p.A.shape.rows - first);
    const index r = index(threadIdx.x);
    const stream_extent start = p.sizes[blockIdx.x];
    const stream_extent end = blockIdx.x + 1 < windows ? p.sizes[blockIdx.x + 1] : p.result->total;
    const window_chunks& cut = p.cuts[blockIdx.x];
    stream_extent behind = start;
    for (unsigned c = threadIdx.x; c < end.chunks - start.chunks; c += window_threads) {
        packed_chunk chunk = cut.chunks[c];
        chunk.index_at += unsigned(start.words), chunk.val_at += unsigned(start.values);
        if (chunk.sorted) chunk.number += index(start.perm);
        to.chunks[to.segment_chunks + start.chunks + c] = chunk;
    }
    for (unsigned k = threadIdx.x; k < end.perm - start.perm; k += window_threads)
        to.perm[start.perm + k] = first + cut.order[k];
    for (unsigned k = blockIdx.x * window_threads + threadIdx.x; k < to.table_values;
         k += gridDim.x * window_threads)
        to.table[k] = p.table[k];
    if (start.segments == end.segments) return;
    if (r < rows) len[r] = p.length(first + r);
    __syncthreads();
    find_long_rows(p, len, rows, l);
    const unsigned count = end.chunks - start.chunks;
    if (count > 0) {
        const packed_chunk& last = cut.chunks[count - 1];
        behind.words += last.index_at + words_of(last);
        behind.values += last.val_at + values_of(last);
    }
    place_segments(p, first, len, l, behind, storage,
                   [&](unsigned q, const packed_chunk& c) { to.chunks[start.segments + q] = c; });
}

}  // namespace
}  // namespace nz
