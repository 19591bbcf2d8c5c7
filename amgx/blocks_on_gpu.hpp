// A matrix in blocks in a GPU's memory.
#pragma once

#include <cstdint>

#include "nonzero/core/device_array.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::amgx {

struct blocks_on_gpu {
    device_array<int> row_ptr, col_ind;
    device_array<std::byte> val, diagonal;  ///< diagonal: empty, or a block a row that is apart
    std::uint64_t pattern = 0;              ///< hash of row_ptr and col_ind
};

/// The least and the largest of these; {0, -1} of none. Waits for on.stream.
struct column_range {
    int least = 0, largest = -1;
};
column_range range_of(gpu on, device_span<int> columns);

/// Writes n block rows as rows of `block` scalars each, into arrays of that size; a diagonal block
/// that is apart is the last of its row. single: values are floats. Waits for nothing.
void write_scalars(gpu on, const blocks_on_gpu&, int n, int block, bool single,
                   csr<double, device>& to);

}  // namespace nz::amgx
