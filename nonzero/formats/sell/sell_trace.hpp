// Memory accesses of the warps of sell.cu.
#pragma once

#include "nonzero/formats/panel_trace.hpp"
#include "nonzero/formats/sell/sell.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(sell_row, const sell<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
/// Lane l has sorted row 32 warp + l: one of a chunk.
template <class V>
void trace(sell_row, const sell<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane r = rows_of_warp(warp, A.shape.rows);
    const per_lane chunk = over(r, A.chunk);
    const per_lane start =
        load_each(to, structure_of("chunk_ptr", A.chunk_ptr), A.chunk_ptr, chunk);
    const per_lane width = load_each(to, structure_of("chunk_width"), A.chunk_width, chunk);
    const per_lane at = each_lane([&](int lane) {
        const auto l = std::size_t(lane);
        return start[l] + r[l] - chunk[l] * A.chunk;
    });
    trace_strided<V>(to, A.col_ind, {at, same_for_all(A.chunk), width});
    to.store(y_of<V>(), load_each(to, structure_of("perm"), A.perm, r));
}

}  // namespace nz
