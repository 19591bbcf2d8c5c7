// Which rows, or columns, each rank holds.
#pragma once

#include <vector>

#include "nonzero/core/backend.hpp"

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

}  // namespace nz
