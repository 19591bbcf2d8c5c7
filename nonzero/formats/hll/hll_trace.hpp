// Memory accesses of the warps of hll.cu.
#pragma once

#include "nonzero/formats/hll/hll.hpp"
#include "nonzero/formats/panel_trace.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(hll_column, const hll<V, host_view>& A) {
    return {grid_of_threads("column_kernel", A.shape.rows)};
}
template <class V>
std::vector<warp_grid> launches(hll_row, const hll_rows<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
template <class V>
std::vector<warp_grid> launches(hll_warp, const hll_rows<V, host_view>& A) {
    return {grid_of_warps("warp_kernel", A.shape.rows, 8)};
}
template <class V>
std::vector<warp_grid> launches(hll_warp_shared, const hll_rows<V, host_view>& A) {
    return {grid_of_warps("warp_shared_kernel", A.shape.rows, 8)};
}

/// Lane l has row 32 warp + l, whose hack lies column by column.
template <class V>
void trace(hll_column, const hll<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane i = rows_of_warp(warp, A.shape.rows), h = over(i, A.hack_size);
    const per_lane start = load_each(to, structure_of("hack_ptr", A.hack_ptr), A.hack_ptr, h);
    const per_lane width = load_each(to, structure_of("max_nnz"), A.max_nnz, h);
    const per_lane at = each_lane([&](int lane) {
        const auto l = std::size_t(lane);
        return start[l] + i[l] - h[l] * A.hack_size;
    });
    const per_lane pitch =
        each_lane([&](int l) { return hack_rows(A, std::max(h[std::size_t(l)], offset(0))); });
    trace_strided<V>(to, A.col_ind, {at, pitch, width});
    to.store(y_of<V>(), i);
}

/// Where the lanes' rows start, as find_row of hll.cu loads it; in `width`, how long they are.
template <class V>
per_lane trace_find_row(const hll_rows<V, host_view>& A, const per_lane& i, per_lane& width,
                        warp_trace& to) {
    const per_lane h = over(i, A.hack_size);
    width = load_each(to, structure_of("max_nnz"), A.max_nnz, h);
    const per_lane start = load_each(to, structure_of("hack_ptr", A.hack_ptr), A.hack_ptr, h);
    return each_lane([&](int lane) {
        const auto l = std::size_t(lane);
        return start[l] + (i[l] - h[l] * A.hack_size) * width[l];
    });
}

/// Lane l has row 32 warp + l, whose elements lie one behind the other.
template <class V>
void trace(hll_row, const hll_rows<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane i = rows_of_warp(warp, A.shape.rows);
    per_lane width;
    const per_lane at = trace_find_row(A, i, width, to);
    trace_strided<V>(to, A.col_ind, {at, same_for_all(1), width});
    to.store(y_of<V>(), i);
}

/// A warp has one row, of which lane l takes every 32nd element from the l-th on.
template <class K, class V>
requires std::same_as<K, hll_warp> || std::same_as<K, hll_warp_shared>
void trace(K, const hll_rows<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    if (warp >= A.shape.rows) return;
    per_lane width;
    const per_lane start = trace_find_row(A, same_for_all(warp), width, to);
    const auto lanes_width = [&](int l) {
        return (width[std::size_t(l)] - l + warp_lanes - 1) / warp_lanes;
    };
    trace_strided<V>(to, A.col_ind,
                     {each_lane([&](int l) { return start[std::size_t(l)] + l; }),
                      same_for_all(warp_lanes), each_lane(lanes_width)});
    to.store(y_of<V>(), first_lane(warp));
}

}  // namespace nz
