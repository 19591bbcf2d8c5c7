// Equal shares of the rows and entries of a CSR, however long its rows are.
#pragma once

#include <algorithm>
#include <cstdint>

namespace nz {

/// The merge path takes a step for each entry and one for each end of a row. Where diagonal `d`
/// crosses it: how many rows end among the first d steps; the other steps are entries. row_end:
/// row_ptr + 1.
template <class P>
std::int64_t merge_path_rows(const P* row_end, std::int64_t rows, std::int64_t nnz,
                             std::int64_t d) {
    std::int64_t low = std::max<std::int64_t>(0, d - nnz), high = std::min(d, rows);
    while (low < high) {
        const std::int64_t mid = low + (high - low) / 2;
        if (std::int64_t(row_end[mid]) <= d - mid - 1) {
            low = mid + 1;
        } else {
            high = mid;
        }
    }
    return low;
}

}  // namespace nz
