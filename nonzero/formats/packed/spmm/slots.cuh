// What a group of lanes does with its places of a packed chunk and vectors in row-major order. A
// place is one of a chunk's 32: what a lane has of it in a product with one vector. A group takes
// neighbouring ones, whose columns and values are then one load each.
#pragma once

#include "nonzero/formats/packed/spmm/lanes.cuh"

namespace nz {
namespace {

/// What is stored of a value.
template <value_encoding C, class V>
struct stored_value {
    using type = V;
};
template <class V>
struct stored_value<value_encoding::dictionary8, V> {
    using type = std::uint8_t;
};
template <class V>
struct stored_value<value_encoding::dictionary16, V> {
    using type = std::uint16_t;
};
template <class V>
struct stored_value<value_encoding::float32, V> {
    using type = float;
};

/// The values of neighbouring places, step by step.
template <value_encoding C, int places, class V>
struct place_values {
    using stored = typename stored_value<C, V>::type;
    static constexpr bool padding_is_zero = C >= value_encoding::float32;  ///< and no table's value
    const stored* at;  ///< of the first place in this step
    const V* __restrict__ table;

    __device__ place_values(const packed<V, device_view>& A, const packed_chunk& c, int place)
        : at(reinterpret_cast<const stored*>(A.val.ptr) + std::size_t(c.val_at) * warp_size +
             unsigned(place)),
          table(A.table.ptr) {}

    __device__ void load(V (&v)[places]) const {
        neighbours<places, stored> s{};
        if constexpr (C != value_encoding::constant)
            s = *reinterpret_cast<const neighbours<places, stored>*>(at);
#pragma unroll
        for (int p = 0; p < places; ++p) {
            if constexpr (C >= value_encoding::float32) v[p] = V(s.of[p]);
            if constexpr (C < value_encoding::float32) v[p] = __ldg(table + std::size_t(s.of[p]));
        }
    }
};

/// Places whose columns are listed: each has an entry a step, or padding. Columns count from
/// `base`.
template <class Column, int places, class Values>
struct listed_places {
    static constexpr bool narrow = sizeof(Column) == 2;
    static constexpr int words = narrow ? (places + 1) / 2 : places;
    using step = neighbours<words, std::uint32_t>;
    const Column* column;  ///< of the first place in the next step
    Values value;
    index base;

    __device__ step load() const {
        if constexpr (narrow && places == 1)
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
    __device__ void values(const step&, V (&v)[places]) {
        value.load(v);
        value.at += warp_size;
    }
};

/// Places by diagonals: a step is one, whose mask tells which of the chunk's rows have an entry.
/// Columns count from the first place's row, `base`.
template <bool constant, int places, class Values>
struct diagonal_places {
    using step = std::conditional_t<constant, int4, int2>;
    const step* diagonal;
    Values value;
    index base;
    int place;  ///< the first, in the chunk

    __device__ step load() const {
        step s = __ldg(diagonal);
        s.y = int(unsigned(s.y) >> place);
        return s;
    }
    __device__ static step nothing() { return {}; }
    __device__ void advance() { ++diagonal; }
    __device__ static bool has(const step& s, int p) { return (s.y & 1 << p) != 0; }
    __device__ static index column_of(const step& s, int p) { return s.x + p; }
    template <class V>
    __device__ void values(const step& s, V (&v)[places]) {
        if constexpr (constant) {
#pragma unroll
            for (int p = 0; p < places; ++p) v[p] = value_of(s, V());
        } else {
            value.load(v);
        }
        value.at += warp_size;
    }
};

/// Adds to each place's sum. Columns are loaded before the sums of the steps before are done, so
/// that these wait for X alone.
template <bool padding_is_zero, class Places, int places, int width, class V>
__device__ void add_steps(Places from, int count, lane_of_vectors<width, V>& lane,
                          neighbours<width, V> (&sum)[places]) {
    constexpr int steps = in_flight / places;
    using elements = neighbours<width, V>;
    typename Places::step next[steps];
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
        elements xj[steps][places]{};
        V v[steps][places]{};
#pragma unroll
        for (int u = 0; u < steps; ++u) {
#pragma unroll
            for (int p = 0; p < places; ++p)
                if (from.has(next[u], p))
                    xj[u][p] = gather(lane.row(x, from.column_of(next[u], p)));
            if (u == 0 || u < left) from.values(next[u], v[u]);
#pragma unroll
            for (int p = 0; p < places; ++p)
                if (!padding_is_zero && !from.has(next[u], p)) v[u][p] = 0;
        }
        load(left - steps);
#pragma unroll
        for (int u = 0; u < steps; ++u)
#pragma unroll
            for (int p = 0; p < places; ++p) sum[p].add(v[u][p], xj[u][p]);
    }
}

/// Adds the entries of a chunk's places from `place` on, of whole rows or of a segment.
template <value_encoding C, int places, int width, class V>
__device__ void add_places(const packed<V, device_view>& A, const packed_chunk& c, int place,
                           lane_of_vectors<width, V>& lane, neighbours<width, V> (&sum)[places]) {
    using values = place_values<C, places, V>;
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const values value(A, c, place);
    const auto add = [&]<bool padding_is_zero>(const auto& from) {
        add_steps<padding_is_zero>(from, int(c.width), lane, sum);
    };
    if (c.kind == packed_chunk::delta16) {
        const auto* const column = reinterpret_cast<const std::uint16_t*>(code) + place;
        return add.template operator()<values::padding_is_zero>(
            listed_places<std::uint16_t, places, values>{column, value, c.base});
    }
    if (c.kind == packed_chunk::delta32)
        return add.template operator()<values::padding_is_zero>(
            listed_places<std::uint32_t, places, values>{code + place, value, c.base});
    const index row = c.first_row + place;
    if (c.kind == packed_chunk::diagonals)
        return add.template operator()<values::padding_is_zero>(
            diagonal_places<false, places, values>{reinterpret_cast<const int2*>(code), value, row,
                                                   place});
    add.template operator()<false>(diagonal_places<true, places, values>{
        reinterpret_cast<const int4*>(code), value, row, place});
}

/// Adds neighbouring places' sums, 2^log_places of them, in the first of each.
template <int places, int width, class V>
__device__ void add_neighbours(int log_places, neighbours<width, V> (&sum)[places]) {
#pragma unroll
    for (int step = 1; step < places; step *= 2)
        if (1 << log_places > step)
#pragma unroll
            for (int p = 0; p < places; p += 2 * step) sum[p].add(sum[p + step]);
}

/// The groups of one warp and their places in a chunk, part by part: a part is what the warp's
/// groups take at once.
template <int places>
struct chunk_parts {
    static constexpr int log_places = places / 2;
    static_assert(places == 2 || places == 4);
    int log_groups;

    [[nodiscard]] __device__ int all() const { return (warp_size / places) >> log_groups; }
    /// The first of a group's places in a part.
    [[nodiscard]] __device__ int place(int part, int group) const {
        return ((part << log_groups) + group) * places;
    }
    /// Parts that share a row of 2^log_lanes places.
    [[nodiscard]] __device__ int of_row(int log_lanes) const {
        return 1 << max(log_lanes - log_places - log_groups, 0);
    }
    /// log2 of the groups of a part that share a row.
    [[nodiscard]] __device__ int log_groups_of_row(int log_lanes) const {
        return min(max(log_lanes - log_places, 0), log_groups);
    }
};

/// Rows of a chunk to Y: those that begin at one of the places from `place` on.
template <int places, int width, class V>
__device__ void store_places(const packed<V, device_view>& A, const packed_chunk& c, int place,
                             const lane_of_vectors<width, V>& lane,
                             const neighbours<width, V> (&sum)[places], V alpha, V beta,
                             const strided_vectors<V>& Y) {
    if (!lane.active) return;
#pragma unroll
    for (int p = 0; p < places; ++p) {
        const int r = (place + p) >> c.log_lanes;
        if (r << c.log_lanes != place + p || r >= int(c.rows)) continue;
        const index i = c.sorted ? __ldg(A.perm.ptr + c.number + r) : c.first_row + r;
        lane.store(Y, i, alpha, sum[p], beta);
    }
}

}  // namespace
}  // namespace nz
