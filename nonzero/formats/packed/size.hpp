// The size of a packed matrix, which the stats know before it is built.
#pragma once

#include <cstdint>

#include "nonzero/core/cpp20.hpp"

namespace nz {

struct packed_size {
    std::int64_t bytes = 0;           ///< the arrays
    std::int64_t width = 0;           ///< summed over the chunks: 32 stored entries each
    std::int64_t diagonal_width = 0;  ///< the same over the chunks of diagonals
    std::int64_t chunks = 0;
    std::int64_t max_width = 0;  ///< the widest chunk
};

}  // namespace nz
