// The width of a lane in lists. The CPU and a GPU count it alike, as they pack bit for bit alike.
#pragma once

#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// Lanes, as a power of two, that a row of n entries gets.
NZ_HOST_DEVICE inline int log_lanes_for(std::int64_t n, index lane_width) {
    int log = 0;
    while (log < 5 && (n >> log) > lane_width) ++log;
    return log;
}

/// Counts of rows as lists, by groups of 32. Rows that are cut into segments do not count.
struct list_forecast {
    unsigned long long entries = 0;
    unsigned long long far_entries = 0;  ///< in groups whose columns take 32 bits
    unsigned long long lanes = 0;        ///< by options.lane_width

    /// Few chunks whose columns lie far apart leave a GPU waiting for x: rows then get four times
    /// as many lanes. Where neighbouring rows share x, L1 has it, and more chunks only take longer
    /// (docs/experiments/packed.md).
    [[nodiscard]] NZ_HOST_DEVICE index lane_width(const packed_options& o) const {
        constexpr index finer = 4;
        constexpr double most_are_far = 0.8;
        const bool few = lanes < static_cast<unsigned long long>(o.few_chunks) * warp_rows;
        const bool far = double(far_entries) >= most_are_far * double(entries);
        if (!few || !far || entries == 0) return o.lane_width;
        return o.lane_width > finer ? o.lane_width / finer : 1;
    }
};

}  // namespace nz
