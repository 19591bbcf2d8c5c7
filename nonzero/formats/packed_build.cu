// Packs a CSR that lies on the GPU, there. The result is what packed::from builds on the CPU, bit
// for bit: the same cuts by the same rules, each window of rows by one block.
#include <climits>
#include <cub/block/block_scan.cuh>
#include <utility>
#include <vector>

#include "nonzero/core/cuda.cuh"
#include "nonzero/formats/packed_values.hpp"

namespace nz {
namespace {

constexpr int window_threads = 1024;  // a warp for each group of 32 rows
constexpr int window_warps = window_threads / warp_size;
static_assert(window_threads == packed_window);
constexpr int groups_per_window = packed_window / warp_size;
constexpr int lane_classes = 6;  // 1, 2, 4 .. 32 lanes a row

/// What stops the packing; the first found is reported.
enum class flaw : int { none, row_ptr, column };

/// What all kernels of one packing share, in GPU memory.
struct notes {
    unsigned distinct;      ///< values in the hash table; above most_table_values: too many
    unsigned has_sentinel;  ///< a value has the bits that mark an empty slot
    unsigned not_narrow;    ///< a value is no float
    flaw flawed;
};

// --- Distinct values: an open-addressed hash table of bits -------------------------------------

constexpr unsigned hash_slots = 4 * unsigned(most_table_values);
constexpr unsigned long long empty_slot = ~0ULL;

__device__ inline unsigned slot_of(unsigned long long bits) {
    return unsigned((bits * 0x9e3779b97f4a7c15ULL) >> 40) % hash_slots;
}
__device__ inline unsigned long long bits_of(double v) {
    return static_cast<unsigned long long>(__double_as_longlong(v));
}
__device__ inline unsigned long long bits_of(float v) { return __float_as_uint(v); }
__device__ inline bool is_narrow(double v) { return bits_of(double(float(v))) == bits_of(v); }
__device__ inline bool is_narrow(float) { return false; }

/// Longer than any chain of a table that is a quarter full, but for bad luck: then the values count
/// as too many.
constexpr int longest_chain = 64;

/// False where there are too many values to go on.
__device__ inline bool insert(unsigned long long bits, unsigned long long* slots, notes* n) {
    if (bits == empty_slot) {
        if (atomicExch(&n->has_sentinel, 1U) == 0) atomicAdd(&n->distinct, 1U);
        return true;
    }
    unsigned s = slot_of(bits);
    for (int probes = 0; probes < longest_chain; ++probes, s = (s + 1) % hash_slots) {
        const unsigned long long there = __ldcg(slots + s);
        if (there == bits) return true;
        if (there != empty_slot) continue;
        if (__ldcg(&n->distinct) > most_table_values) return false;
        const unsigned long long was = atomicCAS(slots + s, empty_slot, bits);
        if (was == empty_slot) atomicAdd(&n->distinct, 1U);
        if (was == empty_slot || was == bits) return true;
    }
    atomicAdd(&n->distinct, unsigned(most_table_values) + 1);
    return false;
}

/// Notes the distinct ones of `count` values, `stride` apart. What an earlier launch found, a
/// thread meets in its first-level cache; what it does not meet there, it looks for behind it.
/// Without a launch on a sample before, all threads would queue for the same few slots: 4.6 ms
/// instead of 0.1 on nlpkkt80.
template <class V>
__global__ void find_values(const V* __restrict__ val, std::size_t count, std::size_t stride,
                            unsigned long long* slots, notes* n) {
    constexpr int at_once = 4;
    const std::size_t threads = std::size_t(gridDim.x) * blockDim.x;
    bool few = __ldcg(&n->distinct) <= most_table_values, narrow = true;
    for (std::size_t k = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
         k < count && (few || narrow); k += at_once * threads) {
        V v[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) v[u] = val[min(k + u * threads, count - 1) * stride];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            narrow = narrow && is_narrow(v[u]);
            const unsigned long long bits = bits_of(v[u]);
            if (few && (__ldca(slots + slot_of(bits)) != bits || bits == empty_slot))
                few = insert(bits, slots, n);
        }
    }
    if (!narrow) n->not_narrow = 1;
}

/// The values of the hash table in ascending order of their bits, by one block, and for each slot
/// the number of its value.
template <class V>
__global__ void sort_values(const unsigned long long* slots, const notes* n, V* table,
                            std::uint16_t* number) {
    __shared__ unsigned long long keys[most_table_values];
    __shared__ unsigned count;
    const unsigned distinct = n->distinct;
    if (distinct > most_table_values) return;
    unsigned size = 1;
    while (size < distinct) size *= 2;
    if (threadIdx.x == 0) count = 0;
    for (unsigned k = threadIdx.x; k < size; k += blockDim.x) keys[k] = empty_slot;
    __syncthreads();
    for (unsigned s = threadIdx.x; s < hash_slots; s += blockDim.x)
        if (slots[s] != empty_slot) keys[atomicAdd(&count, 1U)] = slots[s];
    __syncthreads();
    for (unsigned width = 2; width <= size; width *= 2)
        for (unsigned step = width / 2; step > 0; step /= 2) {
            for (unsigned k = threadIdx.x; k < size; k += blockDim.x) {
                const unsigned other = k ^ step;
                if (other <= k) continue;
                const bool up = (k & width) == 0;
                if ((keys[k] > keys[other]) == up) {
                    const unsigned long long t = keys[k];
                    keys[k] = keys[other], keys[other] = t;
                }
            }
            __syncthreads();
        }
    for (unsigned k = threadIdx.x; k < distinct; k += blockDim.x) {
        const unsigned long long bits = keys[k];
        if constexpr (sizeof(V) == 8) {
            table[k] = __longlong_as_double(static_cast<long long>(bits));
        } else {
            table[k] = __uint_as_float(unsigned(bits));
        }
        if (bits == empty_slot) continue;  // the sentinel, last of all: looked for by its bits
        unsigned s = slot_of(bits);
        while (slots[s] != bits) s = (s + 1) % hash_slots;
        number[s] = std::uint16_t(k);
    }
}

__device__ inline int warp_min(int v) {
    for (int step = warp_size / 2; step > 0; step /= 2)
        v = min(v, __shfl_xor_sync(full_warp, v, step));
    return v;
}
__device__ inline int warp_max(int v) {
    for (int step = warp_size / 2; step > 0; step /= 2)
        v = max(v, __shfl_xor_sync(full_warp, v, step));
    return v;
}
__device__ inline int warp_sum(int v) {
    for (int step = warp_size / 2; step > 0; step /= 2) v += __shfl_xor_sync(full_warp, v, step);
    return v;
}

// --- Cutting windows into chunks -----------------------------------------------------------------

/// What a window adds to each array, or, once summed up, where it starts.
struct extent {
    unsigned long long words = 0, values = 0;  ///< in units of 16 words and of 32 values
    unsigned parts = 0, chunks = 0, perm = 0;
    unsigned unused = 0;
};
struct add_extents {
    __device__ extent operator()(const extent& a, const extent& b) const {
        return {a.words + b.words, a.values + b.values, a.parts + b.parts, a.chunks + b.chunks,
                a.perm + b.perm};
    }
};

/// What the host must know before it can allocate.
struct outcome {
    extent total;
    notes found;
};

/// A window between the two passes over it. Places of its chunks count from the window's start.
struct window_cut {
    packed_chunk chunks[packed_window];  ///< of whole rows
    std::uint16_t order[packed_window];  ///< the rows of sorted chunks
};

template <class V>
struct packing {
    csr<V, device_view> A;
    packed_options options;
    notes* found;
    unsigned long long* slots;  ///< of the hash table
    std::uint16_t* number;      ///< of each slot's value
    V* table;
    window_cut* cuts;
    extent* extents;
    outcome* result;

    __device__ bool has_table() const {
        return found->distinct > 0 && found->distinct <= most_table_values;
    }
    __device__ offset begin(index i) const { return A.row_ptr[std::size_t(i)]; }
    /// 0 where row_ptr is no ascending list of positions, which is noted.
    __device__ index length(index i) const {
        const offset first = begin(i), last = begin(i + 1);
        if (first >= 0 && first <= last && last <= offset(A.col_ind.len) && last - first <= INT_MAX)
            return index(last - first);
        found->flawed = flaw::row_ptr;
        return 0;
    }
    __device__ int log_lanes(index n) const {
        int log = 0;
        while (log < 5 && (n >> log) > options.steps) ++log;
        return log;
    }
};

/// A warp's way through 32 rows, diagonal by diagonal. A lane is a row.
template <class V>
struct diagonal_walk {
    const csr<V, device_view>& A;
    index row;
    offset at, end;
    index lowest = 0;   ///< column - row of the diagonal that `next` found
    unsigned mask = 0;  ///< its rows

    /// False where no entry is left. Every lane in the mask then stands behind its entry, at - 1.
    __device__ bool next() {
        const index mine = at < end ? A.col_ind[std::size_t(at)] - row : INT_MAX;
        lowest = warp_min(mine);
        mask = __ballot_sync(full_warp, at < end && mine == lowest);
        at += (mask >> (threadIdx.x % warp_size) & 1) != 0;
        return mask != 0;
    }
    [[nodiscard]] __device__ bool here() const {
        return (mask >> (threadIdx.x % warp_size) & 1) != 0;
    }
};

/// Whether all lanes of the walk's diagonal have one value.
template <class V>
__device__ bool same_value(const diagonal_walk<V>& walk) {
    const auto bits = walk.here() ? bits_of(walk.A.val[std::size_t(walk.at - 1)]) : 0ULL;
    const auto first = __shfl_sync(full_warp, bits, __ffs(int(walk.mask)) - 1);
    return __all_sync(full_warp, !walk.here() || bits == first) != 0;
}

/// The diagonals of a warp's rows, or 0 where they are too many; `same` says whether each has one
/// value. As cutter::diagonals on the CPU.
template <class V>
__device__ int count_diagonals(const packing<V>& p, index row, index len, bool& same) {
    const int entries = warp_sum(len);
    const auto most = [&](double fill) {
        return min(double(p.options.most_diagonals), floor(double(entries) / (32.0 * fill)));
    };
    const offset first = len > 0 ? p.begin(row) : 0;
    diagonal_walk<V> walk{p.A, row, first, first + len};
    same = p.has_table();
    // As many diagonals as the rows' first entries lie on there are at least.
    const index head = len > 0 ? p.A.col_ind[std::size_t(first)] - row : INT_MAX;
    const unsigned alike = __match_any_sync(full_warp, head);
    const bool leads = (alike & ((1U << (threadIdx.x % warp_size)) - 1)) == 0;
    const int heads = __popc(__ballot_sync(full_warp, len > 0 && leads));
    const double loosest =
        most(same ? fmin(p.options.shared_fill, p.options.diagonal_fill) : p.options.diagonal_fill);
    if (double(heads) > loosest) return 0;
    int count = 0;
    while (walk.next()) {
        if (same) same = same_value(walk);
        ++count;
        const double limit = most(same ? p.options.shared_fill : p.options.diagonal_fill);
        if (double(count) > limit) return 0;
    }
    return count;
}

/// One block's knowledge of its window, in shared memory.
struct window {
    index first, rows;            ///< of the matrix
    index len[packed_window];     ///< of its rows
    unsigned key[packed_window];  ///< of the rows to be sorted: length, then order; else 0
    packed_chunk chunks[packed_window];
    unsigned diagonal_groups, shared_groups;  ///< bits
    int diagonals[groups_per_window];
    int class_rows[lane_classes], class_first[lane_classes], class_chunk[lane_classes];
    int group_chunk[groups_per_window + 1];
    int kept_steps, sorted_steps;
    int chunk_count, rest_rows;
    bool any_long;
};

/// The kind and the base of a warp's chunk of rows; row -1 where a lane has none.
template <class V>
__device__ packed_chunk rows_chunk(const packing<V>& p, index row, index len, int log) {
    const bool some = row >= 0 && len > 0;
    const offset first = some ? p.begin(row) : 0;
    const index least = warp_min(some ? p.A.col_ind[std::size_t(first)] : INT_MAX);
    const index most = warp_max(some ? p.A.col_ind[std::size_t(first + len - 1)] : 0);
    const index longest = warp_max(some ? len : 0);
    packed_chunk c;
    c.base = longest == 0 ? 0 : least;
    c.kind = most - c.base <= 0xfffe ? packed_chunk::near : packed_chunk::far;
    c.log_lanes = std::uint8_t(log);
    c.steps = std::uint16_t((longest + (1 << log) - 1) >> log);
    c.rows = std::uint8_t(__popc(__ballot_sync(full_warp, row >= 0)));
    return c;
}

__device__ inline unsigned words_of(const packed_chunk& c) {
    constexpr unsigned words_a_step[] = {4, 2, 16, 32};
    return (words_a_step[c.kind] * c.steps + 15) / 16;
}
__device__ inline unsigned values_of(const packed_chunk& c) {
    return c.kind == packed_chunk::shared ? 0 : c.steps;
}

/// Tries every group of 32 rows as a chunk of diagonals.
template <class V>
__device__ void find_diagonals(const packing<V>& p, window& w) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    for (int g = warp; g * warp_size < w.rows; g += window_warps) {
        const index r = g * warp_size + lane;
        const index len = r < w.rows ? w.len[r] : 0;
        bool same = false;
        const bool any_long = __any_sync(full_warp, len > p.options.split) != 0;
        const int count = any_long ? 0 : count_diagonals(p, w.first + r, len, same);
        if (lane > 0) continue;
        w.diagonals[g] = count;
        if (count > 0) atomicOr(&w.diagonal_groups, 1U << g);
        if (count > 0 && same) atomicOr(&w.shared_groups, 1U << g);
    }
}

__device__ inline bool by_diagonals(const window& w, index r) {
    return (w.diagonal_groups >> (r / warp_size) & 1) != 0;
}

/// The lanes a row and the steps in all of a group of rows that keep their order.
template <class V>
__device__ int kept_group(const packing<V>& p, index len, int& steps) {
    const int log = p.log_lanes(warp_max(len));
    const int each = warp_size >> log;
    index longest = len;
    for (int step = each / 2; step > 0; step /= 2)
        longest = max(longest, __shfl_xor_sync(full_warp, longest, step));
    const bool first = int(threadIdx.x) % warp_size % each == 0;
    steps = warp_sum(first ? (longest + (1 << log) - 1) >> log : 0);
    return log;
}

template <class V>
__device__ void count_kept_steps(const packing<V>& p, window& w) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    for (int g = warp; g < groups_per_window; g += window_warps) {
        int chunks = 0;
        if (g * warp_size < w.rows && w.diagonals[g] == 0) {
            const index r = g * warp_size + lane;
            int steps = 0;
            const int log = kept_group(p, r < w.rows ? w.len[r] : 0, steps);
            const int rows = min(int(warp_size), w.rows - g * warp_size), each = warp_size >> log;
            chunks = (rows + each - 1) / each;
            if (lane == 0) atomicAdd(&w.kept_steps, steps);
        }
        if (lane == 0) w.group_chunk[g + 1] = chunks;
    }
}

/// Sorts the keys, descending.
__device__ inline void sort_keys(window& w) {
    for (int width = 2; width <= packed_window; width *= 2)
        for (int step = width / 2; step > 0; step /= 2) {
            __syncthreads();
            for (int k = int(threadIdx.x); k < packed_window; k += window_threads) {
                const int other = k ^ step;
                if (other <= k) continue;
                const bool down = (k & width) == 0;
                const unsigned a = w.key[k], b = w.key[other];
                if ((a < b) == down) w.key[k] = b, w.key[other] = a;
            }
        }
    __syncthreads();
}
__device__ inline index row_of_key(unsigned key) { return index(1023 - ((key - 1) & 1023)); }
__device__ inline index length_of_key(unsigned key) { return index((key - 1) >> 10); }

/// Where each class of rows with the same number of lanes starts in the sorted order, and its
/// chunks in theirs. Longer rows, with more lanes, come first.
template <class V>
__device__ void classify(const packing<V>& p, window& w) {
    for (int k = int(threadIdx.x); k < packed_window; k += window_threads)
        if (w.key[k] != 0) atomicAdd(&w.class_rows[p.log_lanes(length_of_key(w.key[k]))], 1);
    __syncthreads();
    if (threadIdx.x == 0) {
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
    for (int k = int(threadIdx.x); k < w.rest_rows; k += window_threads) {
        const index len = length_of_key(w.key[k]);
        const int log = p.log_lanes(len);
        if ((k - w.class_first[log]) % (warp_size >> log) == 0)
            atomicAdd(&w.sorted_steps, (len + (1 << log) - 1) >> log);
    }
    __syncthreads();
}

/// The chunks of sorted rows, from chunk `from` on.
template <class V>
__device__ void cut_sorted(const packing<V>& p, window& w, int from) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    for (int c = warp; c < w.chunk_count; c += window_warps) {
        int log = 0;
        while (log < lane_classes - 1 && (w.class_rows[log] == 0 || c < w.class_chunk[log])) ++log;
        const int each = warp_size >> log;
        const int k = w.class_first[log] + (c - w.class_chunk[log]) * each;
        const int rows = min(each, w.class_first[log] + w.class_rows[log] - k);
        const unsigned key = lane < rows ? w.key[k + lane] : 0;
        const index row = key != 0 ? w.first + row_of_key(key) : -1;
        packed_chunk chunk = rows_chunk(p, row, key != 0 ? length_of_key(key) : 0, log);
        chunk.first_row = __shfl_sync(full_warp, row, 0);
        chunk.sorted = true;
        chunk.number = k;
        if (lane == 0) w.chunks[from + c] = chunk;
    }
}

/// The chunks of rows in order, from chunk `from` on.
template <class V>
__device__ void cut_kept(const packing<V>& p, window& w, int from) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    for (int g = warp; g * warp_size < w.rows; g += window_warps) {
        if (w.diagonals[g] > 0) continue;
        const index r = g * warp_size + lane;
        int steps = 0;
        const int log = kept_group(p, r < w.rows ? w.len[r] : 0, steps);
        const int each = warp_size >> log;
        for (int s = 0; s * each < min(int(warp_size), w.rows - g * warp_size); ++s) {
            const index mine = g * warp_size + s * each + lane;
            const bool some = lane < each && mine < w.rows;
            packed_chunk chunk =
                rows_chunk(p, some ? w.first + mine : -1, some ? w.len[mine] : 0, log);
            chunk.first_row = w.first + g * warp_size + s * each;
            if (lane == 0) w.chunks[from + w.group_chunk[g] + s] = chunk;
        }
    }
}

/// The chunks of diagonals, which come first.
__device__ inline void cut_diagonals(window& w) {
    const int g = int(threadIdx.x);
    if (g >= groups_per_window || (w.diagonal_groups >> g & 1) == 0) return;
    packed_chunk c;
    c.first_row = w.first + g * warp_size;
    c.rows = std::uint8_t(min(int(warp_size), w.rows - g * warp_size));
    c.steps = std::uint16_t(w.diagonals[g]);
    const bool shared = (w.shared_groups >> g & 1) != 0;
    c.kind = shared ? packed_chunk::shared : packed_chunk::diagonals;
    w.chunks[__popc(w.diagonal_groups & ((1U << g) - 1))] = c;
}

using block_scan = cub::BlockScan<unsigned long long, window_threads>;

/// Sets the places of the window's chunks, one after the other, and returns their sum.
__device__ inline extent place_chunks(window& w, int count, block_scan::TempStorage& storage) {
    extent all;
    for (int c0 = 0; c0 < count; c0 += window_threads) {
        const int c = c0 + int(threadIdx.x);
        unsigned long long mine = 0, sum = 0, before = 0;
        if (c < count)
            mine = static_cast<unsigned long long>(words_of(w.chunks[c])) << 32 |
                   values_of(w.chunks[c]);
        block_scan(storage).ExclusiveSum(mine, before, sum);
        __syncthreads();
        if (c < count) {
            w.chunks[c].code_at = unsigned(all.words + (before >> 32));
            w.chunks[c].val_at = unsigned(all.values + (before & 0xffffffffU));
        }
        all.words += sum >> 32, all.values += sum & 0xffffffffU;
    }
    __syncthreads();
    return all;
}

/// Where the parts of each long row start among the window's, as cutter::add_parts puts them.
struct long_rows {
    int count;
    index row[packed_window];
    unsigned first[packed_window + 1];
};

/// Finds the long rows, in order, and their places. By the whole block, a row a thread.
template <class V>
__device__ void find_long_rows(const packing<V>& p, const index* len, index rows, long_rows& l) {
    __shared__ int of_warp[window_warps];
    const int warp = int(threadIdx.x) / warp_size;
    const index r = index(threadIdx.x);
    const bool is_long = r < rows && len[r] > p.options.split;
    const unsigned mask = __ballot_sync(full_warp, is_long);
    if (threadIdx.x % warp_size == 0) of_warp[warp] = __popc(mask);
    __syncthreads();
    int before = __popc(mask & ((1U << (threadIdx.x % warp_size)) - 1));
    for (int w = 0; w < warp; ++w) before += of_warp[w];
    if (is_long) l.row[before] = r;
    if (r == packed_window - 1) l.count = before + is_long;
    __syncthreads();
    if (r == 0) {
        unsigned at = 0;
        for (int k = 0; k < l.count; ++k) {
            const auto parts = unsigned((len[l.row[k]] + p.options.split - 1) / p.options.split);
            if (at % packed_block > 0 && at % packed_block + parts > unsigned(packed_block))
                at = (at + packed_block - 1) / packed_block * packed_block;
            l.first[k] = at;
            at += parts;
        }
        l.first[l.count] = (at + packed_block - 1) / packed_block * packed_block;
    }
    __syncthreads();
}

/// The q-th chunk of the window's parts, without its places.
template <class V>
__device__ packed_chunk part_chunk(const packing<V>& p, index window_first, const index* len,
                                   const long_rows& l, unsigned q) {
    int low = 0, high = l.count;  // the last row that starts at or before q
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        (l.first[middle] <= q ? low : high) = middle;
    }
    const index r = l.row[low], split = p.options.split;
    const index parts = (len[r] + split - 1) / split, part = index(q - l.first[low]);
    packed_chunk c;
    if (part >= parts) return c;  // fills up a GPU block
    const offset each = len[r] / parts, rest = len[r] % parts;
    const offset first = part * each + min(offset(part), rest);
    const offset count = each + (part < rest);
    const offset begin = p.begin(window_first + r) + first;
    c.base = p.A.col_ind[std::size_t(begin)];
    const index most = p.A.col_ind[std::size_t(begin + count - 1)];
    c.kind = most - c.base <= 0xfffe ? packed_chunk::near : packed_chunk::far;
    c.log_lanes = 5, c.rows = 1;
    c.steps = std::uint16_t((count + warp_size - 1) / warp_size);
    c.first_row = window_first + r, c.number = part, c.parts = parts;
    return c;
}

/// f(q, chunk) for every part of the window, its places set from `start` on; returns their sum.
template <class V, class F>
__device__ extent place_parts(const packing<V>& p, index window_first, const index* len,
                              const long_rows& l, extent start, block_scan::TempStorage& storage,
                              F f) {
    const unsigned count = l.first[l.count];
    for (unsigned q0 = 0; q0 < count; q0 += window_threads) {
        const unsigned q = q0 + threadIdx.x;
        packed_chunk c;
        if (q < count) c = part_chunk(p, window_first, len, l, q);
        unsigned long long before = 0, sum = 0;
        block_scan(storage).ExclusiveSum(
            static_cast<unsigned long long>(words_of(c)) << 32 | values_of(c), before, sum);
        __syncthreads();
        if (q < count && c.rows > 0) {
            c.code_at = unsigned(start.words + (before >> 32));
            c.val_at = unsigned(start.values + (before & 0xffffffffU));
        }
        if (q < count) f(q, c);
        start.words += sum >> 32, start.values += sum & 0xffffffffU;
    }
    return start;
}

__device__ inline void begin_window(window& w, index first, index rows) {
    if (threadIdx.x == 0) {
        w.first = first, w.rows = rows;
        w.diagonal_groups = w.shared_groups = 0;
        w.kept_steps = w.sorted_steps = 0;
        w.any_long = false;
    }
    if (threadIdx.x < lane_classes) w.class_rows[threadIdx.x] = 0;
    if (threadIdx.x < groups_per_window) w.diagonals[threadIdx.x] = 0;
    if (threadIdx.x == 0) w.group_chunk[0] = 0;
    __syncthreads();
}

/// First pass: cuts one window a block into chunks of whole rows, and measures it.
template <class V>
__global__ void __launch_bounds__(window_threads) cut_windows(packing<V> p) {
    extern __shared__ char memory[];
    window& w = *reinterpret_cast<window*>(memory);
    long_rows& l = *reinterpret_cast<long_rows*>(w.chunks);  // after the chunks are written out
    __shared__ block_scan::TempStorage storage;
    const index first = index(blockIdx.x) * packed_window;
    begin_window(w, first, min(packed_window, p.A.shape.rows - first));
    for (index r = index(threadIdx.x); r < w.rows; r += window_threads) {
        w.len[r] = p.length(first + r);
        if (w.len[r] > p.options.split) w.any_long = true;
    }
    __syncthreads();
    find_diagonals(p, w);
    __syncthreads();
    for (index r = index(threadIdx.x); r < packed_window; r += window_threads) {
        const bool rest = r < w.rows && !by_diagonals(w, r) && w.len[r] <= p.options.split;
        w.key[r] = rest ? (unsigned(w.len[r]) << 10 | unsigned(1023 - r)) + 1 : 0;
    }
    sort_keys(w);
    classify(p, w);
    const int from = __popc(w.diagonal_groups);
    if (!w.any_long) count_kept_steps(p, w);
    __syncthreads();
    const bool sorted =
        w.any_long || double(w.kept_steps) > p.options.sort_gain * double(w.sorted_steps);
    if (!sorted && threadIdx.x == 0) {
        for (int g = 0; g < groups_per_window; ++g) w.group_chunk[g + 1] += w.group_chunk[g];
        w.chunk_count = w.group_chunk[groups_per_window];
    }
    __syncthreads();
    cut_diagonals(w);
    if (sorted) {
        cut_sorted(p, w, from);
    } else {
        cut_kept(p, w, from);
    }
    __syncthreads();
    const int count = from + w.chunk_count;
    extent all = place_chunks(w, count, storage);
    window_cut& cut = p.cuts[blockIdx.x];
    for (int c = int(threadIdx.x); c < count; c += window_threads) cut.chunks[c] = w.chunks[c];
    if (sorted)
        for (int k = int(threadIdx.x); k < w.rest_rows; k += window_threads)
            cut.order[k] = std::uint16_t(row_of_key(w.key[k]));
    __syncthreads();
    find_long_rows(p, w.len, w.rows, l);
    all = place_parts(p, first, w.len, l, all, storage, [](unsigned, const packed_chunk&) {});
    all.parts = l.first[l.count], all.chunks = unsigned(count);
    all.perm = sorted ? unsigned(w.rest_rows) : 0;
    if (threadIdx.x == 0) p.extents[blockIdx.x] = all;
}

constexpr int sum_threads = 256;

/// Turns extents into starts, and notes the sum of all, by one block.
template <class V>
__global__ void __launch_bounds__(sum_threads) sum_extents(packing<V> p, unsigned windows) {
    using scan = cub::BlockScan<extent, sum_threads>;
    __shared__ typename scan::TempStorage storage;
    extent start;
    for (unsigned w0 = 0; w0 < windows; w0 += sum_threads) {
        const unsigned w = w0 + threadIdx.x;
        const extent mine = w < windows ? p.extents[w] : extent{};
        extent before, sum;
        scan(storage).ExclusiveScan(mine, before, extent{}, add_extents{}, sum);
        __syncthreads();
        if (w < windows) p.extents[w] = add_extents{}(start, before);
        start = add_extents{}(start, sum);
    }
    if (threadIdx.x == 0) *p.result = {start, *p.found};
}

/// What the second and third pass write to.
template <class V>
struct target {
    packed_chunk* chunks;
    index* perm;
    std::uint32_t* codes;
    std::byte* val;
    unsigned part_chunks;
};

/// Second pass: the chunks of one window a block, with their final places.
template <class V>
__global__ void __launch_bounds__(window_threads)
    place_windows(packing<V> p, target<V> to, unsigned windows) {
    __shared__ index len[packed_window];
    __shared__ long_rows l;
    __shared__ block_scan::TempStorage storage;
    const index first = index(blockIdx.x) * packed_window;
    const index rows = min(packed_window, p.A.shape.rows - first);
    for (index r = index(threadIdx.x); r < rows; r += window_threads) len[r] = p.length(first + r);
    const extent start = p.extents[blockIdx.x];
    const extent end = blockIdx.x + 1 < windows ? p.extents[blockIdx.x + 1] : p.result->total;
    const window_cut& cut = p.cuts[blockIdx.x];
    extent behind = start;
    for (unsigned c = threadIdx.x; c < end.chunks - start.chunks; c += window_threads) {
        packed_chunk chunk = cut.chunks[c];
        chunk.code_at += unsigned(start.words), chunk.val_at += unsigned(start.values);
        if (chunk.sorted) chunk.number += index(start.perm);
        to.chunks[to.part_chunks + start.chunks + c] = chunk;
    }
    for (unsigned k = threadIdx.x; k < end.perm - start.perm; k += window_threads)
        to.perm[start.perm + k] = first + cut.order[k];
    __syncthreads();
    find_long_rows(p, len, rows, l);
    const unsigned count = end.chunks - start.chunks;
    if (count > 0) {
        const packed_chunk& last = cut.chunks[count - 1];
        behind.words += last.code_at + words_of(last);
        behind.values += last.val_at + values_of(last);
    }
    place_parts(p, first, len, l, behind, storage,
                [&](unsigned q, const packed_chunk& c) { to.chunks[start.parts + q] = c; });
}

// --- Filling the streams -----------------------------------------------------------------------

/// Stores the code of v as the at-th value.
template <value_coding C, class V>
__device__ void put_value(const packing<V>& p, std::byte* val, std::size_t at, bool here, V v) {
    if constexpr (C == value_coding::plain) reinterpret_cast<V*>(val)[at] = here ? v : V(0);
    if constexpr (C == value_coding::narrow)
        reinterpret_cast<float*>(val)[at] = here ? float(v) : 0.0F;
    if constexpr (C == value_coding::table8 || C == value_coding::table16) {
        unsigned number = 0;
        if (here) {
            const unsigned long long bits = bits_of(v);
            number = p.found->distinct - 1;  // of the bits that mark an empty slot: the largest
            if (bits != empty_slot) {
                unsigned s = slot_of(bits);
                while (p.slots[s] != bits) s = (s + 1) % hash_slots;
                number = p.number[s];
            }
        }
        if constexpr (C == value_coding::table8) {
            reinterpret_cast<std::uint8_t*>(val)[at] = std::uint8_t(number);
        } else {
            reinterpret_cast<std::uint16_t*>(val)[at] = std::uint16_t(number);
        }
    }
}

template <value_coding C, class V>
__device__ void fill_diagonals(const packing<V>& p, const packed_chunk& c, target<V> to, int lane) {
    std::uint32_t* const code = to.codes + std::size_t(c.code_at) * 16;
    const unsigned words = c.kind == packed_chunk::shared ? 4 : 2;
    const index row = c.first_row + lane;
    const index len = lane < int(c.rows) ? p.length(row) : 0;
    const offset first = len > 0 ? p.begin(row) : 0;
    diagonal_walk<V> walk{p.A, row, first, first + len};
    for (unsigned s = 0; s < c.steps; ++s) {
        walk.next();
        const V v = walk.here() ? p.A.val[std::size_t(walk.at - 1)] : V(0);
        if (walk.here() && unsigned(row + walk.lowest) >= unsigned(p.A.shape.cols))
            p.found->flawed = flaw::column;
        std::uint32_t word = lane == 0 ? std::uint32_t(walk.lowest) : walk.mask;
        if (c.kind == packed_chunk::shared) {
            const auto bits = __shfl_sync(full_warp, bits_of(v), __ffs(int(walk.mask)) - 1);
            if (lane == 2) word = std::uint32_t(bits);
            if (lane == 3) word = std::uint32_t(bits >> 32);
        } else {
            put_value<C>(p, to.val, (std::size_t(c.val_at) + s) * warp_size + unsigned(lane),
                         walk.here(), v);
        }
        if (unsigned(lane) < words) code[s * words + unsigned(lane)] = word;
    }
    for (unsigned k = words * c.steps + unsigned(lane); k < 16 * words_of(c); k += warp_size)
        code[k] = 0;
}

template <value_coding C, class V>
__device__ void fill_listed(const packing<V>& p, const packed_chunk& c, target<V> to, int lane) {
    std::uint32_t* const code = to.codes + std::size_t(c.code_at) * 16;
    auto* const near = reinterpret_cast<std::uint16_t*>(code);
    const int r = lane >> c.log_lanes;
    offset k = 0, end = 0;
    if (r < int(c.rows)) {
        const index row = c.sorted ? to.perm[c.number + r] : c.first_row + r;
        const offset len = p.length(row);
        k = p.begin(row), end = k + len;
        if (c.parts > 0) {
            const offset each = len / c.parts, rest = len % c.parts;
            k += c.number * each + min(offset(c.number), rest);
            end = k + each + (c.number < rest);
        }
        k += lane & ((1 << c.log_lanes) - 1);
    }
    for (unsigned s = 0; s < c.steps; ++s, k += 1 << c.log_lanes) {
        const bool here = k < end;
        const index column = here ? p.A.col_ind[std::size_t(k)] : 0;
        const unsigned distance = here ? unsigned(column - c.base) : 0xffffffffU;
        const unsigned most = c.kind == packed_chunk::near ? 0xfffeU : 0xfffffffeU;
        if (here &&
            (unsigned(column) >= unsigned(p.A.shape.cols) || column < c.base || distance > most))
            p.found->flawed = flaw::column;
        const std::size_t at = std::size_t(s) * warp_size + unsigned(lane);
        if (c.kind == packed_chunk::near) {
            near[at] = std::uint16_t(distance);
        } else {
            code[at] = distance;
        }
        put_value<C>(p, to.val, std::size_t(c.val_at) * warp_size + at, here,
                     here ? p.A.val[std::size_t(k)] : V(0));
    }
}

/// Third pass: a warp a chunk.
template <value_coding C, class V>
__global__ void fill_chunks(packing<V> p, target<V> to, unsigned chunks) {
    const unsigned k = (blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
    if (k >= chunks) return;
    const packed_chunk c = to.chunks[k];
    const int lane = int(threadIdx.x) % warp_size;
    if (c.rows == 0) return;
    if (c.kind <= packed_chunk::diagonals) return fill_diagonals<C>(p, c, to, lane);
    fill_listed<C>(p, c, to, lane);
}

// --- From the host -------------------------------------------------------------------------------

/// Scratch memory that several arrays share, in one allocation.
class arena {
  public:
    template <class T>
    void want(T*& to, std::size_t count) {
        wants_.push_back({reinterpret_cast<void**>(&to), used_});
        used_ += (count * sizeof(T) + 255) / 256 * 256;
    }
    void allocate() {
        memory_ = device_array<std::byte>(used_);
        for (const auto& [to, at] : wants_) *to = memory_.data() + at;
    }

  private:
    std::vector<std::pair<void**, std::size_t>> wants_;
    std::size_t used_ = 0;
    device_array<std::byte> memory_;
};

template <class V>
value_coding coding_of(const notes& n) {
    if (n.distinct == 0) return value_coding::plain;
    if (n.distinct > most_table_values)
        return std::is_same_v<V, double> && n.not_narrow == 0 ? value_coding::narrow
                                                              : value_coding::plain;
    return n.distinct == 1     ? value_coding::constant
           : n.distinct <= 256 ? value_coding::table8
                               : value_coding::table16;
}

template <class V>
std::size_t code_bytes(value_coding c) {
    switch (c) {
        case value_coding::constant:
            return 0;
        case value_coding::table8:
            return 1;
        case value_coding::table16:
            return 2;
        case value_coding::narrow:
            return sizeof(float);
        case value_coding::plain:
            break;
    }
    return sizeof(V);
}

template <class V>
void fill(gpu on, const packing<V>& p, target<V> to, value_coding coding, unsigned chunks) {
    const auto launch = [&](auto kernel) {
        kernel<<<blocks_for(chunks, 8), 8 * warp_size, 0, stream_of(on)>>>(p, to, chunks);
    };
    switch (coding) {
        case value_coding::constant:
            return launch(fill_chunks<value_coding::constant, V>);
        case value_coding::table8:
            return launch(fill_chunks<value_coding::table8, V>);
        case value_coding::table16:
            return launch(fill_chunks<value_coding::table16, V>);
        case value_coding::narrow:
            return launch(fill_chunks<value_coding::narrow, V>);
        case value_coding::plain:
            return launch(fill_chunks<value_coding::plain, V>);
    }
}

template <class T>
T read_back(gpu on, const T* from) {
    T value;
    check(cudaMemcpyAsync(&value, from, sizeof(T), cudaMemcpyDeviceToHost, stream_of(on)),
          "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_of(on)), "cudaStreamSynchronize");
    return value;
}

void refuse(flaw f) {
    if (f == flaw::row_ptr)
        throw argument_error("packed: row_ptr does not ascend from 0 to the number of entries");
    if (f == flaw::column)
        throw argument_error(
            "packed: a column is out of range, or the columns of a row do not ascend");
}

/// The first pass, and what came of it.
template <class V>
outcome cut(gpu on, const packing<V>& p, unsigned windows) {
    const cudaStream_t stream = stream_of(on);
    check(cudaMemsetAsync(p.found, 0, sizeof(notes), stream), "cudaMemsetAsync");
    check(cudaMemsetAsync(p.slots, 0xff, hash_slots * sizeof(*p.slots), stream), "cudaMemsetAsync");
    const std::size_t nnz = p.A.val.len;
    constexpr unsigned most_blocks = 2048, values_per_thread = 4;
    const unsigned blocks =
        std::min(most_blocks, blocks_for(std::int64_t(nnz), 256 * values_per_thread));
    constexpr std::size_t sample = 16384;
    if (nnz > sample)
        find_values<<<16, 256, 0, stream>>>(p.A.val.ptr, sample, nnz / sample, p.slots, p.found);
    if (nnz > 0) find_values<<<blocks, 256, 0, stream>>>(p.A.val.ptr, nnz, 1, p.slots, p.found);
    sort_values<<<1, 1024, 0, stream>>>(p.slots, p.found, p.table, p.number);
    check(cudaFuncSetAttribute(cut_windows<V>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               int(sizeof(window))),
          "cudaFuncSetAttribute");
    if (windows > 0) cut_windows<<<windows, window_threads, sizeof(window), stream>>>(p);
    sum_extents<<<1, sum_threads, 0, stream>>>(p, windows);
    check(cudaGetLastError(), "packed: first pass");
    return read_back(on, p.result);
}

}  // namespace

template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A) {
    const unsigned windows = blocks_for(A.shape.rows, packed_window) * (A.shape.rows > 0);
    packing<V> p{};
    p.A = A, p.options = packed_options::suited_to(std::int64_t(A.val.len));
    arena scratch;
    scratch.want(p.found, 1), scratch.want(p.slots, hash_slots);
    scratch.want(p.number, hash_slots), scratch.want(p.table, most_table_values);
    scratch.want(p.cuts, windows), scratch.want(p.extents, windows), scratch.want(p.result, 1);
    scratch.allocate();
    const outcome o = cut(on, p, windows);
    refuse(o.found.flawed);
    if (o.total.words > 0xffffffffU || o.total.values > 0xffffffffU)
        throw argument_error("packed: the matrix is too large for 32-bit places of its chunks");
    packed<V, device> P;
    P.shape = A.shape, P.coding = coding_of<V>(o.found), P.part_chunks = index(o.total.parts);
    const unsigned chunks = o.total.parts + o.total.chunks;
    P.chunks = device_array<packed_chunk>(chunks);
    P.perm = device_array<index>(o.total.perm);
    P.codes = device_array<std::uint32_t>(o.total.words * 16);
    P.val = device_array<std::byte>(o.total.values * warp_size * code_bytes<V>(P.coding));
    P.table = device_array<V>(o.found.distinct <= most_table_values ? o.found.distinct : 0);
    const target<V> to{P.chunks.data(), P.perm.data(), P.codes.data(), P.val.data(), o.total.parts};
    if (windows > 0) place_windows<<<windows, window_threads, 0, stream_of(on)>>>(p, to, windows);
    if (chunks > 0) fill(on, p, to, P.coding, chunks);
    if (P.table.size() > 0)
        check(cudaMemcpyAsync(P.table.data(), p.table, P.table.size() * sizeof(V),
                              cudaMemcpyDeviceToDevice, stream_of(on)),
              "cudaMemcpyAsync");
    check(cudaGetLastError(), "packed: second pass");
    refuse(read_back(on, p.found).flawed);
    return P;
}

template packed<float, device> pack(gpu, const csr<float, device_view>&);
template packed<double, device> pack(gpu, const csr<double, device_view>&);

}  // namespace nz
