// A matrix whose rows are runs of another's entries, made on a GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {
namespace {

/// Row i of `to` takes A's entries from start[i] on.
template <class V>
struct copied_runs {
    csr<V, device_view> A, to;
    const offset* start;
    index* column;
    V* val;
    __device__ offset begin(std::int64_t i) const { return to.row_ptr[std::size_t(i)]; }
    /// The entries k, k + step ... of `to` before `end`, all in row i.
    __device__ void copy(std::int64_t i, offset k, offset end, offset step) const {
        const offset shift = start[i] - begin(i);
        for (; k < end; k += step)
            column[k] = A.col_ind.ptr[k + shift], val[k] = A.val.ptr[k + shift];
    }
};

/// Entries of a part. Rows with more of them are copied part by part, by many blocks: its own few
/// lanes would still copy the longest row of a power law when all others are done.
constexpr offset entries_of_part = 2048;
constexpr int threads_of_part = 256;

/// The rows that are not long, each by 2^log_lanes lanes.
template <class V>
struct short_run {
    copied_runs<V> runs;
    int log_lanes;
    __device__ void operator()(std::int64_t thread) const {
        const std::int64_t i = thread >> log_lanes;
        const int lanes = 1 << log_lanes;
        const offset first = runs.begin(i), end = runs.begin(i + 1);
        if (end - first <= entries_of_part)
            runs.copy(i, first + (thread & (lanes - 1)), end, lanes);
    }
};

/// A block takes a part of the entries and copies those of long rows. A part has entries of two
/// such rows at most: those of its first and its last entry.
template <class V>
__global__ void __launch_bounds__(threads_of_part) copy_long_runs(copied_runs<V> runs) {
    const offset first = offset(blockIdx.x) * entries_of_part;
    const offset end = min(first + entries_of_part, offset(runs.to.val.len));
    __shared__ std::int64_t rows[2];
    if (threadIdx.x < 2)
        rows[threadIdx.x] = first_at_least(runs.to.row_ptr, runs.to.shape.rows,
                                           threadIdx.x == 0 ? first + 1 : end) -
                            1;
    __syncthreads();
    for (int k = 0; k < 2; ++k) {
        const offset begin = runs.begin(rows[k]), row_end = runs.begin(rows[k] + 1);
        if (row_end - begin <= entries_of_part || (k == 1 && rows[1] == rows[0])) continue;
        runs.copy(rows[k], max(first, begin) + threadIdx.x, min(end, row_end), threads_of_part);
    }
}

/// length[i] entries of A from start[i] on, for each row i. length: one element more, which is read
/// and does not count; it becomes where rows begin. known: how many there are; else that is read,
/// which waits for the GPU. longest: no row has more.
template <class V>
csr<V, device> some_entries(gpu on, const csr<V, device_view>& A, const offset* start,
                            device_array<offset>& length, std::optional<std::int64_t> known = {},
                            offset longest = std::numeric_limits<offset>::max()) {
    const auto rows = std::int64_t(length.size()) - 1;
    sum_before(on, length.data(), length.data(), rows + 1);
    const offset entries = known ? *known : read_back(on, length.data() + rows);
    csr<V, device> B{{index(rows), A.shape.cols}, as_row_pointers(on, length, entries), {}, {}};
    B.col_ind = device_array<index>(on, std::size_t(entries));
    B.val = device_array<V>(on, std::size_t(entries));
    const copied_runs<V> runs{A, view(B), start, B.col_ind.data(), B.val.data()};
    // A lane copies about four entries: with more, rows of 100 took twice as long.
    const auto fours = std::uint64_t(entries / std::max<std::int64_t>(rows, 1)) / 4;
    const int log_lanes = std::clamp(int(std::bit_width(fours)), 2, 5);
    launch_each(on, rows << log_lanes, short_run<V>{runs, log_lanes});
    if (longest <= entries_of_part || entries <= entries_of_part) return B;
    copy_long_runs<<<blocks_for(entries, entries_of_part), threads_of_part, 0, stream_of(on)>>>(
        runs);
    check_launch("copy_long_runs");
    return B;
}

}  // namespace
}  // namespace nz
