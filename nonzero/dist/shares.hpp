// Which rows, or columns, each rank holds.
#pragma once

#include <vector>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/communicator.hpp"

namespace nz {

/// Rows or columns shared out over ranks: to each of them a range, in the order of the ranks. A
/// rank may have none.
///
///     first = 0 3 3 7: rank 0 has rows 0, 1, 2, rank 1 none, rank 2 those from 3 to 6
struct shares {
    std::vector<index> first = {0};  ///< where the range of each begins, and where all end

    [[nodiscard]] int parts() const { return int(first.size()) - 1; }
    [[nodiscard]] index total() const { return first.back(); }
    [[nodiscard]] range of(int rank) const {
        return {first[std::size_t(rank)], first[std::size_t(rank) + 1]};
    }
    [[nodiscard]] index count(int rank) const {
        return first[std::size_t(rank) + 1] - first[std::size_t(rank)];
    }
    /// Rank that owns index i, from 0 to total() - 1.
    [[nodiscard]] int owner(index i) const;
    bool operator==(const shares&) const = default;
};

/// n rows in ranges as equal as can be. Throws argument_error where n is negative or parts is not
/// positive.
shares equal_shares(index n, int parts);

/// The rows of a CSR in ranges of about as many entries each. A row counts as an entry more, for
/// its elements of the vectors. `row_ptr`: rows + 1 positions. Throws argument_error as above.
shares balanced_shares(offset_span row_ptr, int parts);

/// Every range from a multiple of `block` on, the one at or before its begin. block: positive.
shares whole_blocks(shares all, index block);

/// Neighbouring ranges joined on the first of their ranks, in `parts` groups of about as many
/// ranks each: `parts` ranks have rows then, the others none. parts: 1 to all.parts().
shares joined_ranges(const shares& all, int parts);

/// Ranges of these lengths, `count` being this rank's. Called by all ranks. Throws argument_error,
/// on all of them, where a count is negative or their sum above 2^31 - 1.
shares gathered_shares(const communicator& ranks, index count);

}  // namespace nz
