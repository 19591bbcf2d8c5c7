// Facts about a matrix that a format may know before it is built.
#pragma once

#include <cstdint>
#include <vector>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/packed/size.hpp"

namespace nz {

/// How many rows have one length.
struct length_count {
    std::int64_t length, rows;
    friend bool operator==(const length_count&, const length_count&) = default;
};

/// Rows to a group, for the groupings whose padding the stats know.
inline constexpr std::int64_t stats_groups[] = {32, 256};
/// Sides of the square blocks that the stats count.
inline constexpr index stats_block_sides[] = {2, 3, 4, 6, 8};
/// Rows that SELL-C-sigma's sort may mix, where the stats know its padding (C = 32).
inline constexpr index stats_sort_scope = 1024;

/// Equal shares of the rows, where the stats know how even they are.
inline constexpr std::int64_t stats_shares = 16;
/// Bytes of a sector: what memory and the caches of a GPU move at least.
inline constexpr std::int64_t sector_bytes = 32;
/// Columns from which on the k-th entries of two neighbouring rows are far from each other: their
/// part of x, of twice as many columns, is what a last-level cache may hold.
inline constexpr index stats_far = 1 << 20;

/// Facts about a matrix that a format may know before it is built. Computed by plan/stats.
struct matrix_stats {
    std::int64_t rows = 0, cols = 0, nnz = 0;
    std::vector<length_count> row_lengths;  ///< ascending, only lengths that occur
    std::int64_t diagonals = 0;             ///< occupied, of rows + cols - 1
    std::int64_t bandwidth = 0;             ///< largest |column - row|
    std::int64_t group_width[2] = {};  ///< sum over groups of stats_groups[g] rows of the longest
    std::int64_t last_group_width[2] = {};  ///< the longest in the last, perhaps smaller, group
    std::int64_t sorted_group_width = 0;  ///< the same for 32 rows, sorted by length in each scope
    packed_size packed;                   ///< size of packed, for these values
    std::int64_t blocks[5] = {};          ///< occupied aligned blocks of side stats_block_sides[b]
    // Requests for sectors of x (32 bytes). A load counts where its sector is another than that of
    // the load before it, in one of two orders:
    std::int64_t row_sectors = 0;     ///< entry after entry of each row
    std::int64_t column_sectors = 0;  ///< the k-th entries of stats_groups[0] rows, row after row
    /// The distinct sectors of each group of stats_groups[1] rows, summed over the groups.
    std::int64_t group_sectors = 0;
    /// Entries more than stats_far columns from the entry of the same number in the row before,
    /// within groups of stats_groups[0] rows; and how many have such an entry before them.
    std::int64_t far_columns = 0, compared_columns = 0;
    double row_imbalance = 1;  ///< nonzeros of the heaviest of stats_shares equal shares of rows,
                               ///< over the mean

    [[nodiscard]] std::int64_t max_row_nnz() const {
        return row_lengths.empty() ? 0 : row_lengths.back().length;
    }
    [[nodiscard]] std::int64_t min_row_nnz() const {
        return row_lengths.empty() ? 0 : row_lengths.front().length;
    }
    [[nodiscard]] std::int64_t empty_rows() const {
        return min_row_nnz() > 0 || row_lengths.empty() ? 0 : row_lengths.front().rows;
    }
};

}  // namespace nz
