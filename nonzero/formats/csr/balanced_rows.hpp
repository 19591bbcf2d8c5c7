// The rows of a thread of csr.balanced.
#pragma once

#include <algorithm>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The t-th of `threads` contiguous blocks of rows, of equal entries up to a row.
template <class P>
range balanced_rows(const P* row_ptr, std::int64_t rows, int threads, int t) {
    // The first row that starts at or after a thread's share of the entries.
    const auto first_row = [&](int of) -> std::int64_t {
        if (of == 0) return 0;
        if (of == threads) return rows;
        const auto target = P(share(std::int64_t(row_ptr[rows]), threads, of).first);
        return std::lower_bound(row_ptr, row_ptr + rows, target) - row_ptr;
    };
    return {first_row(t), first_row(t + 1)};
}

}  // namespace nz
