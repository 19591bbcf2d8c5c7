// Memory accesses of the warps of icrs.cu.
#pragma once

#include "nonzero/formats/icrs/icrs.hpp"
#include "nonzero/formats/panel_trace.hpp"

namespace nz {

/// The four kernels differ in the layout's interleave and in how they fetch x.
template <class K>
concept icrs_row_kernel = std::same_as<K, icrs_row> || std::same_as<K, icrs_row_32> ||
    std::derived_from<K, icrs_row_texture>;

template <icrs_row_kernel K, class V>
std::vector<warp_grid> launches(K, const icrs<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
/// Lane l has row 32 warp + l, and no padding is read.
template <icrs_row_kernel K, class V>
void trace(K, const icrs<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane i = rows_of_warp(warp, A.shape.rows);
    const per_lane at = load_each(to, structure_of("row_start", A.row_start), A.row_start, i);
    const per_lane width = load_each(to, structure_of("row_count"), A.row_count, i);
    trace_strided<V>(to, A.col_ind, {at, same_for_all(A.interleave), width}, K::hooks.x_by_texture,
                     8);
    to.store(y_of<V>(), i);
}

}  // namespace nz
