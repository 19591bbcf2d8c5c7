// Facts about a matrix that a format may know before it is built.
#pragma once

#include <cstdint>
#include <vector>

#include "nonzero/core/space.hpp"

namespace nz {

/// Facts about a matrix that a format may know before it is built. Computed by plan/stats.
struct matrix_stats {
    /// The number of rows of one length.
    struct length_count {
        std::int64_t length, rows;
        friend bool operator==(const length_count&, const length_count&) = default;
    };

    /// Size of packed, which is known before it is built.
    struct packed_size {
        std::int64_t bytes = 0;           ///< the arrays
        std::int64_t width = 0;           ///< summed over the chunks: 32 stored entries each
        std::int64_t diagonal_width = 0;  ///< the same over the chunks of diagonals
        std::int64_t tile_width = 0;      ///< and over tiles
        std::int64_t wide_width = 0;      ///< and over lists of 32-bit columns; on a CPU only
        std::int64_t chunks = 0;
        std::int64_t max_width = 0;  ///< the widest chunk
    };

    /// Rows to a group, for the groupings whose padding the stats know.
    static constexpr std::int64_t groups[] = {32, 256};
    /// Sides of the square blocks that the stats count.
    static constexpr index block_sides[] = {2, 3, 4, 6, 8};
    /// Rows that SELL-C-sigma's sort may mix, where the stats know its padding (C = 32).
    static constexpr index sort_scope = 1024;

    /// Equal shares of the rows, where the stats know how even they are.
    static constexpr std::int64_t shares = 16;
    /// Bytes of a sector: what memory and the caches of a GPU move at least.
    static constexpr std::int64_t sector_bytes = 32;
    /// Columns from which on the k-th entries of two neighbouring rows are far from each other:
    /// their part of x, of twice as many columns, is what a last-level cache may hold.
    static constexpr index far = 1 << 20;

    std::int64_t rows = 0, cols = 0, nnz = 0;
    /// Ascending, only lengths that occur; of a matrix in GPU memory that has hundreds of them,
    /// similar ones as one.
    std::vector<length_count> row_lengths;
    std::int64_t diagonals = 0;             ///< occupied, of rows + cols - 1
    std::int64_t bandwidth = 0;             ///< largest |column - row|
    std::int64_t group_width[2] = {};       ///< sum over groups of groups[g] rows of the longest
    std::int64_t last_group_width[2] = {};  ///< the longest in the last, perhaps smaller, group
    std::int64_t sorted_group_width = 0;  ///< the same for 32 rows, sorted by length in each scope
    packed_size packed;                   ///< size of packed, for these values
    std::int64_t blocks[5] = {};          ///< occupied aligned blocks of side block_sides[b]
    // Requests for sectors of x (32 bytes). A load counts where its sector is another than that of
    // the load before it, in one of two orders:
    std::int64_t row_sectors = 0;     ///< entry after entry of each row
    std::int64_t column_sectors = 0;  ///< the k-th entries of groups[0] rows, row after row
    /// The distinct sectors of each group of groups[1] rows, summed over the groups.
    std::int64_t group_sectors = 0;
    /// Entries more than far columns from the entry of the same number in the row before,
    /// within groups of groups[0] rows; and how many have such an entry before them.
    std::int64_t far_columns = 0, compared_columns = 0;
    double row_imbalance = 1;  ///< nonzeros of the heaviest of equal shares of rows, one a thread
                               ///< of the CPU to plan for, else `shares`, over the mean

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
