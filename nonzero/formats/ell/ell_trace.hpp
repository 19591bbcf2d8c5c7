// Memory accesses of the warps of ell.cu.
#pragma once

#include "nonzero/formats/ell/ell.hpp"
#include "nonzero/formats/panel_trace.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(ell_row, const ell<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
/// Lane l has row 32 warp + l.
template <class V>
void trace(ell_row, const ell<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane row = rows_of_warp(warp, A.shape.rows);
    trace_strided<V>(to, A.col_ind,
                     {row, each_lane([&](int) { return A.pitch; }), each_lane([&](int l) {
                          return row[std::size_t(l)] == idle ? 0 : offset(A.width);
                      })});
    to.store(y_of<V>(), row);
}

}  // namespace nz
