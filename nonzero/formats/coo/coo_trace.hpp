// Memory accesses of the warps of coo.cu.
#pragma once

#include "nonzero/formats/coo/coo.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

inline constexpr std::int64_t traced_entries_per_warp = 512;  ///< entries_per_warp of coo.cu

/// y is scaled before and the carries are added behind, by launches that read no matrix.
template <class V>
std::vector<warp_grid> launches(coo_segmented, const coo<V, host_view>& A) {
    const auto nnz = std::int64_t(A.val.size());
    if (nnz == 0) return {};
    return {grid_of_warps("segmented_kernel",
                          (nnz + traced_entries_per_warp - 1) / traced_entries_per_warp, 8)};
}

/// y[row] += ...: a load and a store.
template <class V>
void trace_add(const per_lane& row, warp_trace& to) {
    to.load(y_of<V>(), row);
    to.store(y_of<V>(), row);
}

/// A warp has 512 entries, of which lane l takes every 32nd from the l-th on. Where a row ends its
/// sum is added to y, but for the first and the last row of the warp: those are its carries.
template <class V>
void trace(coo_segmented, const coo<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const auto nnz = std::int64_t(A.val.size());
    const std::int64_t begin = warp * traced_entries_per_warp;
    if (begin >= nnz) return;
    const std::int64_t end = std::min(begin + traced_entries_per_warp, nnz);
    const traced_array rows = structure_of("row_ind");
    to.broadcast(rows, begin);
    const index first_row = A.row_ind[std::size_t(begin)];
    std::int64_t open = first_row;
    for (std::int64_t base = begin; base < end; base += warp_lanes) {
        const per_lane k = each_lane([&](int l) { return base + l < end ? base + l : idle; });
        const per_lane row = load_each(
            to, rows, A.row_ind, each_lane([&](int l) { return std::min(base + l, end - 1); }));
        to.load(values_of<V>("val"), k);
        to.load(columns_of("col_ind"), k);
        to.load(x_of<V>(), take_each(A.col_ind, k));
        if (row[0] != open && open != first_row) trace_add<V>(first_lane(open), to);
        trace_add<V>(each_lane([&](int lane) {
                         const auto l = std::size_t(lane);
                         const bool ends = lane < warp_lanes - 1 && row[l + 1] != row[l];
                         return ends && row[l] != first_row ? row[l] : idle;
                     }),
                     to);
        open = row.back();
    }
    const traced_array carries{"carries", array_role::y, sizeof(V) == 8 ? 16 : 8};
    to.store(carries, first_lane(2 * warp));
    to.store(carries, first_lane(2 * warp + 1));
}

template <class V>
std::vector<warp_grid> launches(coo_atomic, const coo<V, host_view>& A) {
    return {grid_of_threads("atomic_kernel", std::int64_t(A.val.size()))};
}
/// Lane l has entry 32 warp + l. What is added to y by atomic operations counts as stored.
template <class V>
void trace(coo_atomic, const coo<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane k = rows_of_warp(warp, std::int64_t(A.val.size()));
    const per_lane row = load_each(to, structure_of("row_ind"), A.row_ind, k);
    to.load(values_of<V>("val"), k);
    to.load(x_of<V>(), load_each(to, columns_of("col_ind"), A.col_ind, k));
    to.store(y_of<V>(), row);
}

}  // namespace nz
