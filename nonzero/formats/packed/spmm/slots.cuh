// SpMM, row-major X: a group of lanes multiplies its slots of a packed chunk. A chunk has 32 slots,
// one a lane in a product with one vector. A group takes neighbouring ones, whose columns and
// values are then one load each.
#pragma once

#include "nonzero/formats/packed/spmm/lanes.cuh"

namespace nz {
namespace {

/// The values of neighbouring slots, step by step.
template <value_encoding C, int slots, class V>
struct slot_values {
    using stored = stored_value<C, V>;
    const stored* at;  ///< of the first slot in this step
    const V* __restrict__ table;

    __device__ slot_values(const packed<V, device_view>& A, const packed_chunk& c, int slot)
        : at(reinterpret_cast<const stored*>(A.val.ptr) + std::size_t(c.val_at) * warp_size +
             unsigned(slot)),
          table(A.table.ptr) {}

    __device__ void load(V (&v)[slots]) const {
        neighbours<slots, stored> s{};
        if constexpr (C != value_encoding::constant)
            s = *reinterpret_cast<const neighbours<slots, stored>*>(at);
#pragma unroll
        for (int p = 0; p < slots; ++p) v[p] = decoded<C>(s.of[p], table);
    }
};

/// Slots whose columns are listed: each has an entry a step, or padding. Columns count from
/// `base`.
template <class Column, int slots, class Values>
struct listed_slots {
    static constexpr bool narrow = sizeof(Column) == 2;
    static constexpr int words = narrow ? (slots + 1) / 2 : slots;
    using step = neighbours<words, std::uint32_t>;
    const Column* column;  ///< of the first slot in the next step
    Values value;
    index base;

    __device__ step load() const {
        if constexpr (narrow && slots == 1)
            return {{*column | 0U}};
        else
            return *reinterpret_cast<const step*>(column);
    }
    __device__ static step nothing() {
        step s;
        for (int w = 0; w < words; ++w) s.of[w] = padding32;
        return s;
    }
    __device__ void advance() { column += warp_size; }
    __device__ static std::uint32_t distance(const step& s, int p) {
        if constexpr (!narrow)
            return s.of[p];
        else
            return p % 2 == 0 ? s.of[p / 2] & padding16 : s.of[p / 2] >> 16;
    }
    __device__ static bool has(const step& s, int p) {
        return distance(s, p) != (narrow ? padding16 : padding32);
    }
    __device__ static index column_of(const step& s, int p) { return index(distance(s, p)); }
    template <class V>
    __device__ void values(const step&, V (&v)[slots]) {
        value.load(v);
        value.at += warp_size;
    }
};

/// Slots by diagonals: a step is one, whose mask tells which of the chunk's rows have an entry.
/// Columns count from the first slot's row, `base`.
template <bool constant, int slots, class Values>
struct diagonal_slots {
    using step = std::conditional_t<constant, int4, int2>;
    const step* diagonal;
    Values value;
    index base;
    int slot;  ///< the first, in the chunk

    __device__ step load() const {
        step s = __ldg(diagonal);
        s.y = int(unsigned(s.y) >> slot);
        return s;
    }
    __device__ static step nothing() { return {}; }
    __device__ void advance() { ++diagonal; }
    __device__ static bool has(const step& s, int p) { return (s.y & 1 << p) != 0; }
    __device__ static index column_of(const step& s, int p) { return s.x + p; }
    template <class V>
    __device__ void values(const step& s, V (&v)[slots]) {
        if constexpr (constant) {
#pragma unroll
            for (int p = 0; p < slots; ++p) v[p] = value_of(s, V());
        } else {
            value.load(v);
        }
        value.at += warp_size;
    }
};

/// Adds to each slot's sum. Columns are loaded before the sums of the steps before are done, so
/// that these wait for X alone.
template <bool adds_padding, class Slots, int slots, int width, class V>
__device__ void add_steps(Slots from, int count, lane_of_vectors<width, V>& lane,
                          neighbours<width, V> (&sum)[slots]) {
    constexpr int steps = in_flight / slots;
    using elements = neighbours<width, V>;
    typename Slots::step next[steps];
    const auto load = [&](int left) {
#pragma unroll
        for (int u = 0; u < steps; ++u, from.advance())
            next[u] = u < left ? from.load() : from.nothing();
    };
    load(count);
    lane.x = wait_for_previous(lane.x);
    const elements* x = lane.row(from.base);
    asm("" : "+l"(x));  // or the compiler would add the base to every column
#pragma unroll 1
    for (int left = count; left > 0; left -= steps) {
        elements xj[steps][slots]{};
        V v[steps][slots]{};
#pragma unroll
        for (int u = 0; u < steps; ++u) {
#pragma unroll
            for (int p = 0; p < slots; ++p)
                if (from.has(next[u], p))
                    xj[u][p] = gather(lane.row(x, from.column_of(next[u], p)));
            if (u == 0 || u < left) from.values(next[u], v[u]);
#pragma unroll
            for (int p = 0; p < slots; ++p)
                if (!adds_padding && !from.has(next[u], p)) v[u][p] = 0;
        }
        load(left - steps);
#pragma unroll
        for (int u = 0; u < steps; ++u)
#pragma unroll
            for (int p = 0; p < slots; ++p) sum[p].add(v[u][p], xj[u][p]);
    }
}

/// Adds the entries of a chunk's slots from `slot` on, of whole rows or of a segment.
template <value_encoding C, int slots, int width, class V>
__device__ void add_slots(const packed<V, device_view>& A, const packed_chunk& c, int slot,
                          lane_of_vectors<width, V>& lane, neighbours<width, V> (&sum)[slots]) {
    using values = slot_values<C, slots, V>;
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const values value(A, c, slot);
    const auto add = [&]<bool adds_padding>(const auto& from) {
        add_steps<adds_padding>(from, int(c.width), lane, sum);
    };
    if (c.kind == packed_chunk::delta16) {
        const auto* const column = reinterpret_cast<const std::uint16_t*>(code) + slot;
        return add.template operator()<padding_is_zero<C>>(
            listed_slots<std::uint16_t, slots, values>{column, value, c.base});
    }
    if (c.kind == packed_chunk::delta32)
        return add.template operator()<padding_is_zero<C>>(
            listed_slots<std::uint32_t, slots, values>{code + slot, value, c.base});
    const index row = c.first_row + slot;
    if (c.kind == packed_chunk::diagonals)
        return add.template operator()<padding_is_zero<C>>(diagonal_slots<false, slots, values>{
            reinterpret_cast<const int2*>(code), value, row, slot});
    add.template operator()<false>(
        diagonal_slots<true, slots, values>{reinterpret_cast<const int4*>(code), value, row, slot});
}

/// Adds neighbouring slots' sums, 2^log_slots of them, in the first of each.
template <int slots, int width, class V>
__device__ void add_neighbours(int log_slots, neighbours<width, V> (&sum)[slots]) {
#pragma unroll
    for (int step = 1; step < slots; step *= 2)
        if (1 << log_slots > step)
#pragma unroll
            for (int p = 0; p < slots; p += 2 * step) sum[p].add(sum[p + step]);
}

/// The groups of one warp and their slots in a chunk, part by part: a part is what the warp's
/// groups take at once.
template <int slots>
struct chunk_parts {
    static constexpr int log_slots = slots / 2;
    static_assert(slots == 2 || slots == 4);
    int log_groups;

    [[nodiscard]] __device__ int all() const { return (warp_size / slots) >> log_groups; }
    /// The first of a group's slots in a part.
    [[nodiscard]] __device__ int slot(int part, int group) const {
        return ((part << log_groups) + group) * slots;
    }
    /// Parts that share a row of 2^log_lanes slots.
    [[nodiscard]] __device__ int of_row(int log_lanes) const {
        return 1 << max(log_lanes - log_slots - log_groups, 0);
    }
    /// log2 of the groups of a part that share a row.
    [[nodiscard]] __device__ int log_groups_of_row(int log_lanes) const {
        return min(max(log_lanes - log_slots, 0), log_groups);
    }
};

/// Rows of a chunk to Y: those that begin at one of the slots from `slot` on.
template <int slots, int width, class V>
__device__ void store_slots(const packed<V, device_view>& A, const packed_chunk& c, int slot,
                            const lane_of_vectors<width, V>& lane,
                            const neighbours<width, V> (&sum)[slots], V alpha, V beta,
                            const strided_vectors<V>& Y) {
    if (!lane.active) return;
#pragma unroll
    for (int p = 0; p < slots; ++p) {
        const int r = (slot + p) >> c.log_lanes;
        if (r << c.log_lanes != slot + p || r >= int(c.rows)) continue;
        const index i = row_of(c, A.perm.ptr, r);
        lane.store(Y, i, alpha, sum[p], beta);
    }
}

}  // namespace
}  // namespace nz
