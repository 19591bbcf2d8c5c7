// SpMM, row-major X, of many vectors: a team of threads decodes a chunk into shared memory, then
// groups of its lanes take a row each. Decoded once for all vectors of a span, an entry costs
// little more than its loads of X, and few registers: many warps wait for X at once.
#pragma once

#include "nonzero/formats/packed/spmm/lanes.cuh"

namespace nz {
namespace {

/// The threads that share a chunk, several teams a block where the block's other work wants more.
template <int teams>
struct team {
    static constexpr int log_size = 7, size = 1 << log_size, in_block = teams;

    __device__ static int number() { return int(threadIdx.x) >> log_size; }
    __device__ static int thread() { return int(threadIdx.x) & (size - 1); }
    __device__ static void meet() {
        if constexpr (in_block == 1) return __syncthreads();
        asm volatile("bar.sync %0, %1;" ::"r"(1 + number()), "r"(size) : "memory");
    }
};

/// Decoded entries of some slots, slot by slot. Up to 15 entries of every slot of a chunk fit; with
/// more room, L1 has too little left.
template <class V>
struct staged_entries {
    static constexpr int room = 512;
    V val[room];
    index col_ind[room];  ///< none: -1
};

/// The diagonals of a chunk as they are stored, one value each.
struct staged_diagonals {
    static constexpr int room = 256;
    int4 diagonal[room];
};

/// A part of a chunk that is decoded at once: places [from, from + width) of 2^log_slots slots.
struct staged_part {
    int first_slot, log_slots, from, width;
    /// From one slot to the next: odd, so that a warp's writes meet no bank twice.
    [[nodiscard]] __device__ int stride() const { return width | 1; }
};

/// The column at a place of a list or of diagonals whose values are stored; -1 where none is.
__device__ inline index column_at(const packed_chunk& c, const std::uint32_t* code, int k,
                                  int slot) {
    const int place = k * warp_size + slot;
    if (c.kind == packed_chunk::diagonals) {
        const int2 d = __ldg(reinterpret_cast<const int2*>(code) + k);
        return (d.y >> slot & 1) != 0 ? c.first_row + slot + d.x : -1;
    }
    if (c.kind == packed_chunk::delta16) {
        const unsigned j = __ldg(reinterpret_cast<const std::uint16_t*>(code) + place);
        return j != padding16 ? c.base + index(j) : -1;
    }
    const unsigned j = __ldg(code + place);
    return j != padding32 ? c.base + index(j) : -1;
}

/// Decodes a part of a chunk. All of the team call it.
template <value_encoding C, class team, class V>
__device__ void stage(const packed<V, device_view>& A, const packed_chunk& c,
                      const staged_part& part, staged_entries<V>& to) {
    using stored = stored_value<C, V>;
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const stored* const val =
        reinterpret_cast<const stored*>(A.val.ptr) + std::size_t(c.val_at) * warp_size;
    const int of_part = team::thread() & ((1 << part.log_slots) - 1);
    const int slot = part.first_slot + of_part;
#pragma unroll 2
    for (int k = team::thread() >> part.log_slots; k < part.width;
         k += team::size >> part.log_slots) {
        stored v{};
        if constexpr (C != value_encoding::constant)
            v = __ldg(val + (part.from + k) * warp_size + slot);
        const int at = of_part * part.stride() + k;
        to.col_ind[at] = column_at(c, code, part.from + k, slot);
        to.val[at] = decoded<C>(v, A.table.ptr);
    }
}

/// Loads of 16 bytes that a lane makes of each row of X.
constexpr int staged_loads = 2;

/// A lane's vectors: `width` neighbours for each of its loads, which are a group's lanes apart.
template <int width, class team, class V>
struct staged_lane {
    using elements = neighbours<width, V>;
    using sums = neighbours<staged_loads, elements>;
    int log_lanes, group, vector, count;
    const V* x;  ///< the first vector's first element
    std::int32_t row_bytes;

    __device__ staged_lane(const vector_lanes& along, unsigned span,
                           const strided_vectors<const V>& X)
        : log_lanes(along.log_lanes),
          group(team::thread() >> log_lanes),
          vector(int((span * staged_loads << log_lanes) + (threadIdx.x & ((1U << log_lanes) - 1))) *
                 width),
          count(along.count),
          x(X.first + (vector < count ? vector : 0)),
          row_bytes(std::int32_t(X.row_stride * sizeof(V))) {}

    /// The first of the vectors of load l, and whether there are such.
    [[nodiscard]] __device__ int vector_of(int l) const {
        return vector + (l << log_lanes) * width;
    }
    [[nodiscard]] __device__ bool has(int l) const { return vector_of(l) < count; }

    /// Adds `count` entries; column_at(k) is the column of the k-th, or -1, and value_at(k) its
    /// value.
    template <class Column, class Value>
    __device__ void add(int count, Column column_at, Value value_at, sums& sum) const {
        constexpr int steps = in_flight / staged_loads;
        const auto* const first = reinterpret_cast<const elements*>(x);
#pragma unroll 1
        for (int k = 0; k < count; k += steps) {
            elements xj[steps][staged_loads]{};
            V v[steps]{};
#pragma unroll
            for (int u = 0; u < steps; ++u) {
                const index j = k + u < count ? column_at(k + u) : -1;
                if (j < 0) continue;
                v[u] = value_at(k + u);
                const elements* const at = rows_behind(first, j, row_bytes);
#pragma unroll
                for (int l = 0; l < staged_loads; ++l)
                    if (l == 0 || has(l)) xj[u][l] = gather(at + (l << log_lanes));
            }
#pragma unroll
            for (int u = 0; u < steps; ++u)
#pragma unroll
                for (int l = 0; l < staged_loads; ++l) sum.of[l].add(v[u], xj[u][l]);
        }
    }
    /// Adds the entries of slots [first, last) of what is staged.
    __device__ void add_slots(const staged_entries<V>& entries, const staged_part& part, int first,
                              int last, sums& sum) const {
        for (int s = first; s < last; ++s) {
            const int at = s * part.stride();
            add(
                part.width, [&](int k) { return entries.col_ind[at + k]; },
                [&](int k) { return entries.val[at + k]; }, sum);
        }
    }

    /// Sums of 2^log_groups neighbouring groups, in the first of them; a fixed order. All of the
    /// team call it. of_threads: room for the sums of them all.
    __device__ void add_groups(int log_groups, sums& sum, sums* of_threads) const {
        const int within = min(log_groups, 5 - log_lanes);
        for (int p = 0; p < within; ++p)
#pragma unroll
            for (int l = 0; l < staged_loads; ++l)
#pragma unroll
                for (int w = 0; w < width; ++w)
                    sum.of[l].of[w] +=
                        __shfl_xor_sync(full_warp, sum.of[l].of[w], 1 << (log_lanes + p));
        if (log_groups == within) return;
        const int warps = 1 << (log_groups - within);
        team::meet();
        of_threads[team::thread()] = sum;
        team::meet();
        if (team::thread() / warp_size % warps != 0) return;
        for (int w = 1; w < warps; ++w)
#pragma unroll
            for (int l = 0; l < staged_loads; ++l)
                sum.of[l].add(of_threads[team::thread() + w * warp_size].of[l]);
    }

    /// Row i of Y by the row's sums, for this lane's vectors.
    template <class End>
    __device__ void store(const strided_vectors<V>& Y, index i, const sums& sum,
                          const End& end) const {
#pragma unroll
        for (int l = 0; l < staged_loads; ++l) {
            if (!has(l)) continue;
            const auto bytes = std::int32_t(Y.row_stride * sizeof(V));
            end(rows_behind(reinterpret_cast<elements*>(Y.first + vector_of(l)), i, bytes), i,
                vector_of(l), sum.of[l]);
        }
    }
};

/// The end of a row: Y = alpha A X + beta Y.
template <int width, class V>
struct scaled_end {
    V alpha, beta;
    __device__ void operator()(neighbours<width, V>* to, index, int,
                               const neighbours<width, V>& sum) const {
        neighbours<width, V> y = beta == V(0) ? neighbours<width, V>{} : *to;
#pragma unroll
        for (int w = 0; w < width; ++w) store_scaled(y.of + w, alpha, sum.of[w], beta);
        *to = y;
    }
};

/// The end of a row: Y = keep X - momentum Y + step W (b - A X); b and X lie as Y does.
template <int width, class V>
struct relaxed_end {
    V keep, momentum, step;
    const V *w, *b, *x;  ///< w: null where W is the identity
    std::size_t stride;  ///< from row to row
    __device__ void operator()(neighbours<width, V>* to, index i, int vector,
                               const neighbours<width, V>& sum) const {
        using elements = neighbours<width, V>;
        const std::size_t at = std::size_t(i) * stride + std::size_t(vector);
        const V scale = w == nullptr ? step : step * __ldg(w + i);
        const elements mine = *reinterpret_cast<const elements*>(b + at);
        const elements before = momentum == V(0) ? elements{} : *to;
        const elements now = keep == V(0) ? elements{} : *reinterpret_cast<const elements*>(x + at);
        elements y;
#pragma unroll
        for (int e = 0; e < width; ++e)
            y.of[e] = keep * now.of[e] - momentum * before.of[e] + scale * (mine.of[e] - sum.of[e]);
        *to = y;
    }
};

/// The rows of a chunk that a group takes, one after the other, or its share of one row.
struct group_share {
    int log_split;  ///< log2 of the groups that share a row
    int log_rows;   ///< log2 of the rows that all groups take at once
    int slots;      ///< of the group in a row

    __device__ group_share(int log_groups, int log_row)
        : log_split(max(log_groups + log_row - 5, 0)),
          log_rows(log_groups - log_split),
          slots(1 << (log_row - log_split)) {}
    [[nodiscard]] __device__ int row(int group) const { return group >> log_split; }
    [[nodiscard]] __device__ int first_slot(int group) const {
        return (group & ((1 << log_split) - 1)) * slots;
    }
};

}  // namespace
}  // namespace nz
