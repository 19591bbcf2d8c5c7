// Memory accesses of the warps of jds.cu.
#pragma once

#include "nonzero/formats/csr/csr_trace.hpp"
#include "nonzero/formats/jds/jds.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(jds_row, const jds<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
/// Lane l has sorted row 32 warp + l.
template <class V>
void trace(jds_row, const jds<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane r = rows_of_warp(warp, A.shape.rows);
    trace_rows<V>(to, A.row_ptr, A.col_ind, r, {}, 1);
    to.store(y_of<V>(), load_each(to, structure_of("perm"), A.perm, r));
}

template <class V>
std::vector<warp_grid> launches(jds_diagonals, const jds_transposed<V, host_view>& A) {
    return {grid_of_threads("transposed_kernel", A.shape.rows)};
}
/// The same, four diagonals at once. All lanes that are still at work load a diagonal's bounds.
template <class V>
void trace(jds_diagonals, const jds_transposed<V, host_view>& A, std::int64_t warp,
           warp_trace& to) {
    constexpr std::int64_t at_once = 4;
    const traced_array bounds = structure_of("jd_ptr", A.jd_ptr);
    const auto diagonals = std::int64_t(A.jd_ptr.size()) - 1;
    const per_lane row = rows_of_warp(warp, A.shape.rows);
    per_lane working = row;
    for (std::int64_t d = 0; d < diagonals; d += at_once) {
        std::array<per_lane, at_once> at;
        for (std::int64_t u = 0; u < at_once; ++u) {
            const std::int64_t e = std::min(d + u, diagonals - 1);
            to.broadcast(bounds, e, working);
            if (d + u < diagonals) to.broadcast(bounds, e + 1, working);
            const offset start = A.jd_ptr[std::size_t(e)];
            const offset end = d + u < diagonals ? A.jd_ptr[std::size_t(e) + 1] : start;
            at[std::size_t(u)] = each_lane([&](int l) {
                const std::int64_t r = working[std::size_t(l)];
                return r != idle && start + r < end ? start + r : idle;
            });
            to.load(columns_of("col_ind"), at[std::size_t(u)]);
            to.load(values_of<V>("val"), at[std::size_t(u)]);
        }
        for (const per_lane& k : at) to.load(x_of<V>(), take_each(A.col_ind, k));
        for (std::size_t l = 0; l < warp_lanes; ++l)
            if (at.back()[l] == idle) working[l] = idle;
    }
    to.store(y_of<V>(), load_each(to, structure_of("perm"), A.perm, row));
}

}  // namespace nz
