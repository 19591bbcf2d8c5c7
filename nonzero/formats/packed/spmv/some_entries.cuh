// A matrix whose rows are runs of another's entries, made on a GPU.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>

#include "nonzero/core/gpu/device_steps.cuh"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {
namespace {

/// Row i of `to` takes A's entries from start[i] on, by 2^log_lanes lanes.
template <class V>
struct copied_run {
    csr<V, device_view> A, to;
    const offset* start;
    index* column;
    V* val;
    int log_lanes;
    __device__ void operator()(std::int64_t thread) const {
        const auto i = std::size_t(thread >> log_lanes);
        const int lanes = 1 << log_lanes;
        const offset first = to.row_ptr[i], count = to.row_ptr[i + 1] - first, from = start[i];
        for (offset k = thread & (lanes - 1); k < count; k += lanes)
            column[first + k] = A.col_ind.ptr[from + k], val[first + k] = A.val.ptr[from + k];
    }
};

/// length[i] entries of A from start[i] on, for each row i. length: one element more, which is read
/// and does not count; it becomes where rows begin. known: how many there are; else that is read,
/// which waits for the GPU.
template <class V>
csr<V, device> some_entries(gpu on, const csr<V, device_view>& A, const offset* start,
                            device_array<offset>& length, std::optional<std::int64_t> known = {}) {
    const auto rows = std::int64_t(length.size()) - 1;
    sum_before(on, length.data(), length.data(), rows + 1);
    const offset entries = known ? *known : read_back(on, length.data() + rows);
    csr<V, device> B{{index(rows), A.shape.cols}, as_row_pointers(on, length, entries), {}, {}};
    B.col_ind = device_array<index>(on, std::size_t(entries));
    B.val = device_array<V>(on, std::size_t(entries));
    // A lane copies about four entries: with more, rows of 100 took twice as long.
    const auto fours = std::uint64_t(entries / std::max<std::int64_t>(rows, 1)) / 4;
    const int log_lanes = std::clamp(int(std::bit_width(fours)), 2, 5);
    launch_each(on, rows << log_lanes,
                copied_run<V>{A, view(B), start, B.col_ind.data(), B.val.data(), log_lanes});
    return B;
}

}  // namespace
}  // namespace nz
