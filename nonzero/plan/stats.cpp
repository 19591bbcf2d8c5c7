#include "nonzero/plan/stats.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <map>
#include <utility>

#include "nonzero/formats/packed.hpp"

namespace nz {
namespace {

template <class V>
std::int64_t row_length(const csr<V, host_view>& A, std::int64_t i) {
    return A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)];
}

/// A histogram of row lengths: short ones in an array, the few long ones in a map.
class histogram {
  public:
    void add(std::int64_t length, std::int64_t rows = 1) {
        if (length < std::ssize(short_)) {
            short_[std::size_t(length)] += rows;
        } else {
            long_[length] += rows;
        }
    }
    void add(const histogram& other) {
        for (const length_count& c : other.counts()) add(c.length, c.rows);
    }
    [[nodiscard]] std::vector<length_count> counts() const {
        std::vector<length_count> all;
        for (std::size_t n = 0; n < short_.size(); ++n)
            if (short_[n] > 0) all.push_back({std::int64_t(n), short_[n]});
        for (const auto& [length, rows] : long_) all.push_back({length, rows});
        return all;
    }

  private:
    std::vector<std::int64_t> short_ = std::vector<std::int64_t>(1024, 0);
    std::map<std::int64_t, std::int64_t> long_;
};

template <class V>
std::vector<length_count> count_lengths(const csr<V, host_view>& A) {
    histogram all;
#pragma omp parallel
    {
        histogram mine;
#pragma omp for schedule(static) nowait
        for (std::int64_t i = 0; i < A.shape.rows; ++i) mine.add(row_length(A, i));
#pragma omp critical(nonzero_stats_lengths)
        all.add(mine);
    }
    return all.counts();
}

struct widths {
    std::int64_t sum = 0, last = 0;
};

/// The longest row of each group of `group` rows: summed, and of the last group.
template <class V>
widths group_widths(const csr<V, host_view>& A, std::int64_t group) {
    const std::int64_t groups = (A.shape.rows + group - 1) / group;
    const auto width = [&](std::int64_t g) {
        const std::int64_t last = std::min<std::int64_t>((g + 1) * group, A.shape.rows);
        std::int64_t longest = 0;
        for (std::int64_t i = g * group; i < last; ++i)
            longest = std::max(longest, row_length(A, i));
        return longest;
    };
    std::int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t g = 0; g < groups; ++g) sum += width(g);
    return {sum, groups == 0 ? 0 : width(groups - 1)};
}

/// The same for groups of 32 rows after sorting by length within each scope.
template <class V>
std::int64_t sum_of_sorted_widths(const csr<V, host_view>& A) {
    constexpr std::size_t group = 32;
    std::int64_t sum = 0;
#pragma omp parallel for schedule(static) reduction(+ : sum)
    for (std::int64_t first = 0; first < A.shape.rows; first += stats_sort_scope) {
        const std::int64_t last = std::min<std::int64_t>(first + stats_sort_scope, A.shape.rows);
        std::array<std::int64_t, stats_sort_scope> lengths;
        std::int64_t n = 0;
        for (std::int64_t i = first; i < last; ++i) lengths[std::size_t(n++)] = row_length(A, i);
        std::sort(lengths.begin(), lengths.begin() + n, std::greater<>());
        for (std::size_t k = 0; k < std::size_t(n); k += group) sum += lengths[k];
    }
    return sum;
}

/// Occupied side x side blocks of the rows [first, last), aligned at multiples of side. Scratch: of
/// a number for each column of blocks, the row of blocks in which it was last met.
template <index side, class V>
std::int64_t count_blocks(const csr<V, host_view>& A, std::int64_t first, std::int64_t last,
                          std::vector<index>& last_row) {
    std::fill_n(last_row.begin(), std::size_t(A.shape.cols / side) + 1, -1);
    std::int64_t blocks = 0;
    for_each_entry(A, first, last, [&](index i, index j, V) {
        index& seen = last_row[std::size_t(j / side)];
        blocks += seen != i / side;
        seen = i / side;
    });
    return blocks;
}

/// The largest |column - row| of the rows [first, last); sets seen[column - row] of each.
template <class V>
std::int64_t find_diagonals(const csr<V, host_view>& A, std::int64_t first, std::int64_t last,
                            std::uint8_t* seen) {
    std::int64_t bandwidth = 0;
    for_each_entry(A, first, last, [&](index i, index j, V) {
        const std::int64_t d = std::int64_t(j) - i;
        bandwidth = std::max(bandwidth, std::abs(d));
        std::atomic_ref<std::uint8_t> here(seen[d]);
        if (here.load(std::memory_order_relaxed) == 0) here.store(1, std::memory_order_relaxed);
    });
    return bandwidth;
}

template <class V, std::size_t... b>
void count_entries(const csr<V, host_view>& A, matrix_stats& s, std::index_sequence<b...>) {
    // Bytes, not bits: threads set neighbouring ones at the same time.
    std::vector<std::uint8_t> seen(std::size_t(s.rows + s.cols), 0);
    // A part takes 2 bytes a column at a time: not more in all than 8 an entry.
    const int threads = thread_count({});
    const std::int64_t parts =
        std::clamp<std::int64_t>(4 * s.nnz / std::max<std::int64_t>(s.cols, 1), 1, threads);
    // The first row of a part: equal nonzeros, and no block lies in two parts.
    constexpr std::int64_t whole_blocks = 24;  // rows
    static_assert(((whole_blocks % stats_block_sides[b] == 0) && ...));
    const auto first_row = [&](std::int64_t part) -> std::int64_t {
        if (part == parts) return s.rows;
        const offset target = share(s.nnz, parts, part).first;
        return A.row_ptr.visit([&](const auto* ptr) {
            return (std::lower_bound(ptr, ptr + s.rows, target) - ptr) / whole_blocks *
                   whole_blocks;
        });
    };
    constexpr index least_side = std::min({stats_block_sides[b]...});
    std::vector<std::vector<index>> scratch(
        std::size_t(parts), std::vector<index>(std::size_t(A.shape.cols / least_side) + 1));
    std::int64_t blocks[sizeof...(b)] = {}, bandwidth = 0;
#pragma omp parallel for schedule(static, 1) num_threads(threads) reduction(max : bandwidth) \
    reduction(+ : blocks)
    for (std::int64_t part = 0; part < parts; ++part) {
        const std::int64_t first = first_row(part), last = first_row(part + 1);
        ((blocks[b] +=
          count_blocks<stats_block_sides[b]>(A, first, last, scratch[std::size_t(part)])),
         ...);
        bandwidth = std::max(bandwidth, find_diagonals(A, first, last, seen.data() + s.rows));
    }
    ((s.blocks[b] = blocks[b]), ...);
    s.bandwidth = bandwidth;
    s.diagonals = std::count(seen.begin(), seen.end(), 1);
}

/// What loads of x meet, in sectors of so many elements.
template <class V>
void count_sectors(const csr<V, host_view>& A, matrix_stats& s) {
    constexpr index elements = index(sector_bytes / sizeof(V));
    constexpr std::int64_t warp = stats_groups[0], near = stats_groups[1];
    std::int64_t row_sectors = 0, column_sectors = 0, near_sectors = 0;
#pragma omp parallel reduction(+ : row_sectors, column_sectors, near_sectors)
    {
        std::vector<std::int64_t> seen(std::size_t(A.shape.cols / elements) + 1, -1);
#pragma omp for schedule(dynamic, 16)
        for (std::int64_t first = 0; first < A.shape.rows; first += near) {
            const std::int64_t last = std::min<std::int64_t>(first + near, A.shape.rows);
            offset above = 0, above_len = 0;
            for (std::int64_t i = first; i < last; ++i) {
                const offset begin = A.row_ptr[std::size_t(i)], len = row_length(A, i);
                if (i % warp == 0) above_len = 0;
                index before = -1;
                for (offset k = 0; k < len; ++k) {
                    const index sector = A.col_ind[std::size_t(begin + k)] / elements;
                    row_sectors += sector != before;
                    column_sectors +=
                        k >= above_len || A.col_ind[std::size_t(above + k)] / elements != sector;
                    std::int64_t& at = seen[std::size_t(sector)];
                    near_sectors += at != first;
                    at = first, before = sector;
                }
                above = begin, above_len = len;
            }
        }
    }
    s.row_sectors = row_sectors, s.column_sectors = column_sectors, s.near_sectors = near_sectors;
}

template <class V>
double imbalance_of_rows(const csr<V, host_view>& A) {
    offset heaviest = 0;
    for (std::int64_t p = 0; p < stats_shares; ++p) {
        const range rows = share(A.shape.rows, stats_shares, p);
        heaviest = std::max(heaviest,
                            A.row_ptr[std::size_t(rows.last)] - A.row_ptr[std::size_t(rows.first)]);
    }
    return A.val.empty() ? 1 : double(heaviest) * double(stats_shares) / double(A.val.size());
}

}  // namespace

template <class V>
matrix_stats compute_stats(const csr<V, host_view>& A) {
    if (order_of(A) == row_order::ascending) return stats_of_ascending(A);
    return stats_of_ascending(view(canonical(A)));
}

template <class V>
matrix_stats stats_of_ascending(const csr<V, host_view>& A) {
    matrix_stats s;
    s.rows = A.shape.rows, s.cols = A.shape.cols, s.nnz = std::int64_t(A.val.size());
    s.row_lengths = count_lengths(A);
    for (std::size_t g = 0; g < std::size(stats_groups); ++g) {
        const widths w = group_widths(A, stats_groups[g]);
        s.group_width[g] = w.sum, s.last_group_width[g] = w.last;
    }
    s.sorted_group_width = sum_of_sorted_widths(A);
    count_entries(A, s, std::make_index_sequence<std::size(stats_block_sides)>());
    count_sectors(A, s);
    s.row_imbalance = imbalance_of_rows(A);
    const packed_size packed = size_of_packed(A);
    s.packed_bytes = packed.bytes;
    s.packed_steps = packed.steps;
    s.packed_diagonal_steps = packed.diagonal_steps;
    s.packed_chunks = packed.chunks;
    s.packed_longest = packed.longest;
    return s;
}

#define NZ_INSTANTIATE(V)                                          \
    template matrix_stats compute_stats(const csr<V, host_view>&); \
    template matrix_stats stats_of_ascending(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
