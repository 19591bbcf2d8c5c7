// How much a packed matrix is: what the stats tell of it before it is built.
#pragma once

#include <cstdint>

namespace nz {

/// How much a packed matrix is.
struct packed_size {
    std::int64_t bytes = 0;           ///< of the arrays
    std::int64_t steps = 0;           ///< of all chunks: 32 stored places each
    std::int64_t diagonal_steps = 0;  ///< those of chunks of diagonals
    std::int64_t chunks = 0;
    std::int64_t longest = 0;  ///< the most steps of a chunk
};

}  // namespace nz
