// Memory accesses of the warps of hyb.cu.
#pragma once

#include "nonzero/formats/coo/coo_trace.hpp"
#include "nonzero/formats/ell/ell_trace.hpp"
#include "nonzero/formats/hyb/hyb.hpp"

namespace nz {

template <class V>
std::vector<warp_grid> launches(hyb_device, const hyb<V, host_view>& A) {
    std::vector<warp_grid> all = launches(ell_row{}, A.ell);
    for (const warp_grid& g : launches(coo_segmented{}, A.coo)) all.push_back(g);
    return all;
}
/// ell.row's warps, then those of coo.segmented.
template <class V>
void trace(hyb_device, const hyb<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const std::int64_t of_ell = launches(ell_row{}, A.ell)[0].warps;
    if (warp < of_ell) return trace(ell_row{}, A.ell, warp, to);
    trace(coo_segmented{}, A.coo, warp - of_ell, to);
}

}  // namespace nz
