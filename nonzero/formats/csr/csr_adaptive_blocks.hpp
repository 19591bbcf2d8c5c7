// The list of csr_adaptive's blocks, made on a GPU.
#pragma once

#include "nonzero/core/device_array.hpp"

namespace nz {

/// As csr_adaptive's block_row and block_part.
struct device_row_blocks {
    device_array<index> row, part;
};

/// The blocks that csr_adaptive::from cuts for this capacity. Takes 12 bytes a row meanwhile. Waits
/// for on.stream. Throws device_error where the memory does not suffice.
device_row_blocks row_blocks_of(gpu on, const device_offset_span& row_ptr, index rows,
                                index capacity);

}  // namespace nz
