// Types of the passes that pack on the GPU, and a warp's way through 32 rows by diagonals.
#pragma once

#include <climits>

#include "nonzero/formats/packed/build/distinct.cuh"

namespace nz {
namespace {

/// Lengths that a window adds to the arrays, or, once summed up, its starts in them.
struct stream_extent {
    unsigned long long words = 0, values = 0;  ///< in units of 16 words and of 32 values
    unsigned segments = 0, chunks = 0, perm = 0;
    unsigned unused = 0;
};
struct add_sizes {
    __device__ stream_extent operator()(const stream_extent& a, const stream_extent& b) const {
        return {a.words + b.words, a.values + b.values, a.segments + b.segments,
                a.chunks + b.chunks, a.perm + b.perm};
    }
};

/// Results that the host must know before it can allocate.
struct analysis_result {
    stream_extent total;
    analysis_counters found;
};

/// Diagonals of a group of 32 rows as a chunk; none where the group is no chunk of diagonals.
struct group_diagonals {
    std::uint8_t count = 0;
    std::uint8_t same = 0;  ///< whether each has one value
    std::uint16_t unused = 0;
    unsigned offsets = 0;  ///< a hash
};

/// A window between the passes over it. Places of its chunks count from the window's start.
struct window_chunks {
    packed_chunk chunks[packed_window];  ///< chunks of whole rows
    std::uint16_t order[packed_window];  ///< the rows of sorted chunks
};

template <class V>
struct packing {
    csr<V, device_view> A;
    packed_options options;
    analysis_counters* found;
    unsigned long long* slots;  ///< the slots of the hash table
    std::uint16_t* number;      ///< the number of each slot's value in the table
    V* unsorted;                ///< the table's values as they were found
    V* table;
    group_diagonals* groups;
    window_chunks* cuts;
    stream_extent* sizes;
    analysis_result* result;
    analysis_result* told;  ///< the same in the CPU's memory, or null
    bool in_order;          ///< its columns are known to be: they are not checked

    __device__ bool has_table() const {
        return found->distinct > 0 && found->distinct <= most_table_values<V>;
    }
    __device__ offset begin(index i) const { return A.row_ptr[std::size_t(i)]; }
    /// 0 where row_ptr does not ascend from 0 to the number of entries, which is reported.
    __device__ index length(index i) const {
        const offset first = begin(i), last = begin(i + 1), nnz = offset(A.col_ind.len);
        const bool at_ends = (i > 0 || first == 0) && (i + 1 < A.shape.rows || last == nnz);
        if (at_ends && first >= 0 && first <= last && last <= nnz && last - first <= INT_MAX)
            return index(last - first);
        found->error = input_error::row_ptr;
        return 0;
    }
};

/// Whether the row, of len entries, starts at a column that is not above the entry before it.
template <class V>
__device__ bool starts_below(const packing<V>& p, index row, index len) {
    if (len == 0 || p.begin(row) == 0) return false;
    const auto first = std::size_t(p.begin(row));
    return p.A.col_ind[first] <= p.A.col_ind[first - 1];
}

constexpr int walk_threads = 256;

/// Where this block's rows start, and how far on its next ones are.
__device__ inline std::int64_t first_of_block() { return std::int64_t(blockIdx.x) * walk_threads; }
__device__ inline std::int64_t step_of_blocks() { return std::int64_t(gridDim.x) * walk_threads; }

/// A warp's way through 32 rows, diagonal by diagonal. A lane is a row. Every lane holds its next
/// two entries, so that a step waits for no load.
template <class V>
class diagonal_walk {
  public:
    index lowest = 0;   ///< column - row of the diagonal that `next` found
    unsigned mask = 0;  ///< its rows
    V value = 0;        ///< the value of this lane's entry on it, where `here`

    __device__ diagonal_walk(const csr<V, device_view>& A, index row, offset first, offset end,
                             bool with_values)
        : A_(A), row_(row), at_(first), end_(end), with_values_(with_values) {
        coming_ = entry(first), after_ = entry(first + 1);
    }
    /// False where no entry is left.
    __device__ bool next() {
        lowest = warp_min(coming_.distance);
        if (lowest == none) return false;
        mask = __ballot_sync(full_warp, coming_.distance == lowest);
        if (!here()) return true;
        value = coming_.value;
        coming_ = after_;
        ++at_;
        after_ = entry(at_ + 1);
        return true;
    }
    [[nodiscard]] __device__ bool here() const { return (mask >> lane_id() & 1) != 0; }

  private:
    static constexpr index none = INT_MAX;
    struct next_entry {
        index distance;  ///< column - row; none behind the last
        V value;
    };
    __device__ next_entry entry(offset at) const {
        if (at >= end_) return {none, V(0)};
        return {A_.col_ind[std::size_t(at)] - row_, with_values_ ? A_.val[std::size_t(at)] : V(0)};
    }

    const csr<V, device_view>& A_;
    index row_;
    offset at_, end_;
    bool with_values_;
    next_entry coming_, after_;
};

/// Whether all lanes of the walk's diagonal have one value.
template <class V>
__device__ bool same_value(const diagonal_walk<V>& walk) {
    const auto bits = bits_of(walk.value);
    const auto first = __shfl_sync(full_warp, bits, __ffs(int(walk.mask)) - 1);
    return __all_sync(full_warp, !walk.here() || bits == first) != 0;
}

/// The diagonals of a warp's rows, or none where they are too many. As chunk_partitioner::diagonals
/// on the CPU.
template <class V>
__device__ group_diagonals find_group(const packing<V>& p, index row, index len) {
    const int entries = warp_sum(len);
    const auto most = [&](double fill) {
        return min(p.options.most_diagonals, int(double(entries) / (warp_size * fill)));
    };
    const int most_plain = most(p.options.diagonal_fill),
              most_constant = most(p.options.constant_fill);
    const offset first = len > 0 ? p.begin(row) : 0;
    bool same = p.has_table();
    // The rows have at least as many diagonals as their first entries lie on.
    const index head = len > 0 ? p.A.col_ind[std::size_t(first)] - row : INT_MAX;
    const unsigned equal = __match_any_sync(full_warp, head);
    const int heads = __popc(__ballot_sync(full_warp, len > 0 && (equal & lanes_before()) == 0));
    if (heads > (same ? max(most_constant, most_plain) : most_plain)) return {};
    diagonal_walk<V> walk(p.A, row, first, first + len, same);
    int count = 0;
    unsigned offsets = 0;
    while (walk.next()) {
        if (same) same = same_value(walk);
        ++count;
        if (count > (same ? most_constant : most_plain)) return {};
        offsets = (offsets ^ unsigned(walk.lowest)) * 0x9e3779b1U;  // Fibonacci hashing
    }
    return {std::uint8_t(count), std::uint8_t(count > 0 && same), 0, offsets};
}

}  // namespace
}  // namespace nz
