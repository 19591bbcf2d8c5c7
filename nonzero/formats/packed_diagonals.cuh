// What the passes of packing on the GPU share, and a warp's way through 32 rows by diagonals.
#pragma once

#include <climits>

#include "nonzero/formats/packed_distinct.cuh"

namespace nz {
namespace {

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
        return found->distinct > 0 && found->distinct <= most_table_values<V>;
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

}  // namespace
}  // namespace nz
