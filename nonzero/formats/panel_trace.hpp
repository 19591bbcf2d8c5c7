// Loads of the inner loop of the GPU's column-major layouts: sum_strided of panel.cuh.
#pragma once

#include <algorithm>

#include "nonzero/formats/trace.hpp"

namespace nz {

/// Where each lane's row lies: at, at + pitch, ... `width` elements, padding included.
struct strided_rows {
    per_lane at, pitch, width;
};

/// The loads of sum_strided<streams, last_step>: steps of eight elements, then one of `last_step`
/// at most. All columns and values of a step are loaded before the first x; x not for padding.
template <class V>
void trace_strided(warp_trace& to, std::span<const index> col_ind, strided_rows rows,
                   bool by_texture = false, int last_step = 4) {
    const bool streams = col_ind.size() * (sizeof(V) + sizeof(index)) > streamed_bytes;
    const traced_array columns = columns_of("col_ind", streams), x = x_of<V>(by_texture);
    const traced_array values = values_of<V>("val", streams);
    const auto step = [&](int size, int more_than) {
        std::array<per_lane, 8> at;
        for (int u = 0; u < size; ++u) {
            at[std::size_t(u)] = each_lane([&](int lane) {
                const auto l = std::size_t(lane);
                const bool inside = rows.width[l] > more_than && u < rows.width[l];
                return inside ? rows.at[l] + u * rows.pitch[l] : idle;
            });
            to.load(columns, at[std::size_t(u)]);
            to.load(values, at[std::size_t(u)]);
        }
        for (int u = 0; u < size; ++u) to.load(x, take_each(col_ind, at[std::size_t(u)]));
        for (std::size_t l = 0; l < warp_lanes; ++l)
            if (rows.width[l] > more_than)
                rows.at[l] += size * rows.pitch[l], rows.width[l] -= size;
    };
    while (*std::max_element(rows.width.begin(), rows.width.end()) > last_step) step(8, last_step);
    step(last_step, 0);
}

}  // namespace nz
