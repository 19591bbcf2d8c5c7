// Memory accesses of the warps of csr.cu.
#pragma once

#include <algorithm>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

/// How many steps a compiler makes one of, in the loops of csr.cu.
inline constexpr std::int64_t unrolled_steps = 4;

/// Each lane finds the bounds of its row and walks its entries, every stride-th from the
/// `skipped`-th on. A lane that is through waits for the others. Steps are taken four at a time;
/// what does not make four comes first. So the lanes of rows with other lengths fall out of step.
template <class V>
void trace_rows(warp_trace& to, const offset_span& row_ptr, std::span<const index> col_ind,
                const per_lane& row, const per_lane& skipped, std::int64_t stride,
                bool by_texture = false) {
    const traced_array ptr = structure_of("row_ptr", row_ptr);
    const per_lane end = load_each(to, ptr, row_ptr, moved(row, 1));
    per_lane k = load_each(to, ptr, row_ptr, row);
    per_lane steps;
    for (std::size_t l = 0; l < warp_lanes; ++l) {
        k[l] += skipped[l];
        steps[l] = k[l] < end[l] ? (end[l] - k[l] - 1) / stride + 1 : 0;
    }
    /// A step of the lanes for which takes(l) holds.
    const auto step = [&](auto takes) {
        const per_lane at = each_lane([&](int l) { return takes(l) ? k[std::size_t(l)] : idle; });
        to.load(values_of<V>("val"), at);
        to.load(columns_of("col_ind"), at);
        to.load(x_of<V>(by_texture), take_each(col_ind, at));
        for (int l = 0; l < warp_lanes; ++l)
            if (takes(l)) k[std::size_t(l)] += stride;
    };
    const std::int64_t most = *std::max_element(steps.begin(), steps.end());
    for (std::int64_t s = 0; s < std::min(most, unrolled_steps - 1); ++s)
        step([&](int l) { return s < steps[std::size_t(l)] % unrolled_steps; });
    for (std::int64_t s = 0; s + unrolled_steps <= most; s += unrolled_steps)
        for (std::int64_t u = 0; u < unrolled_steps; ++u)
            step([&](int l) { return s + unrolled_steps <= steps[std::size_t(l)]; });
}

template <class V>
std::vector<warp_grid> launches(csr_scalar, const csr<V, host_view>& A) {
    return {grid_of_threads("scalar_kernel", A.shape.rows)};
}
/// Lane l has row 32 warp + l.
template <class V>
void trace(csr_scalar, const csr<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const per_lane row = rows_of_warp(warp, A.shape.rows);
    trace_rows<V>(to, A.row_ptr, A.col_ind, row, {}, 1);
    to.store(y_of<V>(), row);
}

/// The five kernels differ in how x is fetched and in how lanes are summed.
template <class K, class V>
requires std::derived_from<K, csr_vector> std::vector<warp_grid> launches(
    K, const csr<V, host_view>& A) {
    return {grid_of_warps("vector_kernel", A.shape.rows, 8)};
}
/// A warp has one row.
template <class K, class V>
requires std::derived_from<K, csr_vector>
void trace(K, const csr<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    if (warp >= A.shape.rows) return;
    trace_rows<V>(to, A.row_ptr, A.col_ind, same_for_all(warp), each_lane([](int l) { return l; }),
                  warp_lanes, K::hooks.x_by_texture);
    to.store(y_of<V>(), first_lane(warp));
}

template <class V>
std::vector<warp_grid> launches(csr_subwarp, const csr<V, host_view>& A) {
    return {grid_of_threads(
        "subwarp_kernel",
        std::int64_t(A.shape.rows) * csr_subwarp::lanes(A.shape.rows, std::int64_t(A.val.size())))};
}
/// 2 to 32 lanes have one row.
template <class V>
void trace(csr_subwarp, const csr<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const int lanes = csr_subwarp::lanes(A.shape.rows, std::int64_t(A.val.size()));
    const per_lane row = each_lane([&](int l) {
        const std::int64_t i = (warp * warp_lanes + l) / lanes;
        return i < A.shape.rows ? i : idle;
    });
    trace_rows<V>(to, A.row_ptr, A.col_ind, row, each_lane([&](int l) { return l % lanes; }),
                  lanes);
    to.store(y_of<V>(),
             each_lane([&](int l) { return l % lanes == 0 ? row[std::size_t(l)] : idle; }));
}

}  // namespace nz
