// Which values a matrix on the GPU has: an open-addressed hash table of their bits.
#pragma once

#include "nonzero/core/cuda.cuh"
#include "nonzero/formats/packed/build/lane_width.hpp"
#include "nonzero/formats/packed/values.hpp"

namespace nz {
namespace {

/// Faults that stop the packing; the first found is reported.
enum class input_error : int { none, row_ptr, column };

/// Counters that all kernels of one packing share, in GPU memory.
struct analysis_counters {
    unsigned distinct;      ///< values in the hash table; above most_table_values<V>: too many
    unsigned has_sentinel;  ///< a value has the bits that mark an empty slot
    unsigned not_float32;   ///< a value is no float
    input_error error;
    unsigned max_width;                 ///< the width of the widest chunk
    unsigned pairs;                     ///< pairs of chunks, as chunks_per_warp wants them
    unsigned long long width;           ///< summed over all chunks
    unsigned long long diagonal_width;  ///< summed over the chunks of diagonals
    unsigned long long tile_width;      ///< summed over tiles
    unsigned long long tiles;           ///< chunks that are tiles
    unsigned long long descents;        ///< within rows, once all are counted, modulo 2^64
    list_forecast lists;
};

template <class V>
constexpr unsigned hash_slots = 4 * unsigned(most_table_values<V>);
constexpr unsigned long long empty_slot = 0;

/// The counters and the slots of the hash table, which one call clears.
template <class V>
struct values_found {
    analysis_counters counters;
    unsigned long long slots[hash_slots<V>];
};

template <class V>
__device__ unsigned slot_of(unsigned long long key) {
    return unsigned((key * 0x9e3779b97f4a7c15ULL) >> 40) % hash_slots<V>;
}
__device__ inline unsigned long long bits_of(double v) {
    return static_cast<unsigned long long>(__double_as_longlong(v));
}
__device__ inline unsigned long long bits_of(float v) { return __float_as_uint(v); }
/// The key of a value is the complement of its bits: none but that of a NaN is zero, as empty slots
/// are.
template <class V>
__device__ unsigned long long key_of(V v) {
    return ~bits_of(v);
}
__device__ inline bool narrows_to_float32(double v) {
    return bits_of(double(float(v))) == bits_of(v);
}
__device__ inline bool narrows_to_float32(float) { return false; }

/// Chains of a table that is a quarter full are hardly ever longer; where one is, the values count
/// as too many.
constexpr int longest_chain = 64;

/// Enters a new value into the table.
template <class V>
__device__ void append(V v, V* table, analysis_counters* n) {
    const unsigned at = atomicAdd(&n->distinct, 1U);
    if (at < most_table_values<V>) table[at] = v;
}

/// False where there are too many values to go on.
template <class V>
__device__ bool insert(V v, unsigned long long* slots, V* table, analysis_counters* n) {
    const unsigned long long key = key_of(v);
    if (key == empty_slot) {
        if (atomicExch(&n->has_sentinel, 1U) == 0) append(v, table, n);
        return true;
    }
    unsigned s = slot_of<V>(key);
    for (int probes = 0; probes < longest_chain; ++probes, s = (s + 1) % hash_slots<V>) {
        const unsigned long long held = __ldcg(slots + s);
        if (held == key) return true;
        if (held != empty_slot) continue;
        if (__ldcg(&n->distinct) > most_table_values<V>) return false;
        const unsigned long long was = atomicCAS(slots + s, empty_slot, key);
        if (was == empty_slot) append(v, table, n);
        if (was == empty_slot || was == key) return true;
    }
    atomicAdd(&n->distinct, unsigned(most_table_values<V>) + 1);
    return false;
}

/// The same by one lane for all that enter this value now: all of a warp would queue for its slot.
template <class V>
__device__ bool insert_once(V v, unsigned long long* slots, V* table, analysis_counters* n) {
    const unsigned alike = __match_any_sync(__activemask(), bits_of(v));
    return (alike & lanes_before()) != 0 || insert(v, slots, table, n);
}

/// Whether L1 holds the value. L1 may be older than the table, so a value that it lacks may be in
/// the table all the same.
template <class V>
__device__ bool is_known(unsigned long long key, const unsigned long long* slots) {
    if (key == empty_slot) return false;
    unsigned s = slot_of<V>(key);
    for (int probes = 0; probes < longest_chain; ++probes, s = (s + 1) % hash_slots<V>) {
        const unsigned long long held = __ldca(slots + s);
        if (held == key) return true;
        if (held == empty_slot) return false;
    }
    return false;
}

/// Puts the distinct ones of `count` values, `stride` apart, into the table. A thread finds in L1
/// what an earlier launch found, and looks in L2 for the rest. Without a launch on a sample before,
/// all threads would queue for the same few slots (docs/experiments/setup-on-the-gpu.md).
template <class V>
__device__ void find_values(const V* __restrict__ val, std::size_t count, std::size_t stride,
                            unsigned long long* slots, V* table, analysis_counters* n) {
    constexpr int at_once = 4;
    const std::size_t threads = std::size_t(gridDim.x) * blockDim.x;
    bool few = n->distinct <= most_table_values<V>, all_float32 = true;
    for (std::size_t k = blockIdx.x * std::size_t(blockDim.x) + threadIdx.x;
         k < count && (few || all_float32); k += at_once * threads) {
        V v[at_once];
#pragma unroll
        for (int u = 0; u < at_once; ++u) v[u] = val[min(k + u * threads, count - 1) * stride];
#pragma unroll
        for (int u = 0; u < at_once; ++u) {
            if (k + u * threads >= count) break;
            all_float32 = all_float32 && narrows_to_float32(v[u]);
            if (few && !is_known<V>(key_of(v[u]), slots)) few = insert_once(v[u], slots, table, n);
        }
    }
    if (__syncthreads_or(!all_float32) != 0 && threadIdx.x == 0) n->not_float32 = 1;
}

/// The same as a kernel.
template <class V>
__global__ void find_values_alone(const V* __restrict__ val, std::size_t count, std::size_t stride,
                                  unsigned long long* slots, V* table, analysis_counters* n) {
    find_values(val, count, stride, slots, table, n);
}

constexpr int sort_threads = 256;
template <class V>
constexpr unsigned sort_blocks = unsigned(most_table_values<V>) / (sort_threads / warp_size);

/// Puts the values found into `table` in ascending order of their bits, and stores for each slot
/// the number of its value. A warp a value counts those below it: all multiprocessors do
/// that sooner than one block sorts thousands.
template <class V>
__global__ void __launch_bounds__(sort_threads)
    sort_values(const unsigned long long* slots, const analysis_counters* n,
                const V* __restrict__ found, V* table, std::uint16_t* number) {
    const unsigned distinct = n->distinct;
    const unsigned mine = (blockIdx.x * sort_threads + threadIdx.x) / warp_size;
    if (distinct > most_table_values<V> || mine >= distinct) return;
    const V v = found[mine];
    int below = 0;
#pragma unroll 4
    for (unsigned k = unsigned(lane_id()); k < distinct; k += warp_size)
        below += bits_of(found[k]) < bits_of(v);
    below = warp_sum(below);
    if (lane_id() > 0) return;
    table[below] = v;
    const unsigned long long key = key_of(v);
    if (key == empty_slot) return;  // the last of all: looked for by its bits
    unsigned s = slot_of<V>(key);
    while (slots[s] != key) s = (s + 1) % hash_slots<V>;
    number[s] = std::uint16_t(below);
}

}  // namespace
}  // namespace nz
