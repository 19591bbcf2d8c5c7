// Memory accesses of the warps of jds_ell.cu.
#pragma once

#include "nonzero/formats/jds_ell/jds_ell.hpp"
#include "nonzero/formats/panel_trace.hpp"

namespace nz {

/// A launch a section.
template <class V>
std::vector<warp_grid> launches(jds_ell_sections, const jds_ell<V, host_view>& A) {
    std::vector<warp_grid> all;
    for (std::size_t s = 0; s < A.section_width.size(); ++s)
        all.push_back(grid_of_threads("section_kernel", A.section_ptr[s + 1] - A.section_ptr[s]));
    return all;
}
/// Lane l has sorted row 32 warp + l of its section.
template <class V>
void trace(jds_ell_sections kernel, const jds_ell<V, host_view>& A, std::int64_t warp,
           warp_trace& to) {
    std::size_t s = 0;
    for (const warp_grid& g : launches(kernel, A)) {
        if (warp < g.warps) break;
        warp -= g.warps, ++s;
    }
    const std::int64_t first = A.section_ptr[s], rows = A.section_ptr[s + 1] - first;
    const per_lane r = rows_of_warp(warp, rows);
    trace_strided<V>(to, A.col_ind,
                     {moved(r, A.section_start[s]), same_for_all(rows), each_lane([&](int l) {
                          return r[std::size_t(l)] == idle ? 0 : offset(A.section_width[s]);
                      })});
    to.store(y_of<V>(), load_each(to, structure_of("perm"), A.perm, moved(r, first)));
}

}  // namespace nz
