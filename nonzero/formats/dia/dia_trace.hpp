// Memory accesses of the warps of dia.cu.
#pragma once

#include "nonzero/formats/dia/dia.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(dia_row, const dia<V, host_view>& A) {
    return {grid_of_threads("row_kernel", A.shape.rows)};
}
/// Lane l has row 32 warp + l. All lanes load a diagonal's word; those of stored places load on.
template <class V>
void trace(dia_row, const dia<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const bool streams = A.diagonals.size() * sizeof(V) > streamed_bytes;
    const per_lane i = rows_of_warp(warp, A.shape.rows);
    if (i[0] == idle) return;
    for (std::size_t d = 0; d < A.offsets.size(); ++d) {
        const std::int64_t start = std::int64_t(d) * A.pitch, word = start / warp_lanes + warp;
        to.broadcast(structure_of("stored"), word, i);
        const std::uint32_t bits = A.stored[std::size_t(word)];
        const per_lane row =
            each_lane([&](int l) { return (bits >> l & 1) != 0 ? i[std::size_t(l)] : idle; });
        to.load(values_of<V>("diagonals", streams), moved(row, start));
        to.broadcast(structure_of("offsets"), std::int64_t(d), row);
        to.load(x_of<V>(), moved(row, A.offsets[d]));
    }
    to.store(y_of<V>(), i);
}

}  // namespace nz
