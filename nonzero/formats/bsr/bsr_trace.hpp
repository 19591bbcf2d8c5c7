// Memory accesses of the warps of bsr.cu.
#pragma once

#include "nonzero/formats/bsr/bsr.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(bsr_block, const bsr<V, host_view>& A) {
    return {grid_of_warps("block_kernel", std::int64_t(A.block_row_ptr.size()) - 1, 8)};
}

/// The columns of one row of a block for each lane, one after the other; only those of entries.
template <class V>
void trace_block_rows(const bsr<V, host_view>& A, const per_lane& b, const per_lane& r,
                      warp_trace& to) {
    to.load(structure_of("stored", 8), b);
    const per_lane column = load_each(to, columns_of("block_col_ind"), A.block_col_ind, b);
    for (index c = 0; c < A.block_cols; ++c) {
        const auto if_stored = [&](auto element) {
            return each_lane([&](int lane) {
                const auto l = std::size_t(lane);
                if (b[l] == idle) return idle;
                const std::int64_t bit = r[l] * A.block_cols + c;
                return (A.stored[std::size_t(b[l])] >> bit & 1) != 0 ? element(l) : idle;
            });
        };
        to.load(values_of<V>("val"), if_stored([&](std::size_t l) {
                    return (b[l] * A.block_rows + r[l]) * A.block_cols + c;
                }));
        to.load(x_of<V>(), if_stored([&](std::size_t l) { return column[l] * A.block_cols + c; }));
    }
}

/// A warp has a row of blocks: lane l takes row l % block_rows of every (l / block_rows)-th block.
template <class V>
void trace(bsr_block, const bsr<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    if (warp >= std::int64_t(A.block_row_ptr.size()) - 1) return;
    const traced_array ptr = structure_of("block_row_ptr", A.block_row_ptr);
    const offset first = A.block_row_ptr[std::size_t(warp)];
    const offset end = A.block_row_ptr[std::size_t(warp) + 1];
    for (index r0 = 0; r0 < A.block_rows; r0 += warp_lanes) {
        const int rows = std::min(A.block_rows - r0, warp_lanes), at_once = warp_lanes / rows;
        const per_lane r = each_lane([&](int l) { return std::int64_t(r0 + l % rows); });
        const per_lane i = each_lane([&](int l) {
            const std::int64_t row = warp * A.block_rows + r[std::size_t(l)];
            return l < rows * at_once && row < A.shape.rows ? row : idle;
        });
        to.broadcast(ptr, warp + 1, i);
        to.broadcast(ptr, warp, i);
        for (offset base = first; base < end; base += at_once)
            trace_block_rows(A, each_lane([&](int l) {
                                 const offset b = base + l / rows;
                                 return i[std::size_t(l)] != idle && b < end ? b : idle;
                             }),
                             r, to);
        to.store(y_of<V>(), each_lane([&](int l) { return l < rows ? i[std::size_t(l)] : idle; }));
    }
}

}  // namespace nz
