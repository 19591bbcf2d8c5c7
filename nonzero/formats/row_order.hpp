// Rows ordered by length: what JDS, JDS-ELL and SELL-C-sigma sort by.
#pragma once

#include "nonzero/core/space.hpp"

namespace nz {

/// The row numbers, those of every `scope` consecutive rows ordered by length: longest first, and
/// equally long ones as they stood. row_ptr: rows + 1. scope >= 1. O(rows + nnz).
host_vector<index> rows_by_length(offset_span row_ptr, std::int64_t scope);

}  // namespace nz
