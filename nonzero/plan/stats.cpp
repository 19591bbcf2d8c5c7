#include "nonzero/plan/stats.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include "nonzero/formats/packed.hpp"

namespace nz {
namespace {

template <class V>
std::int64_t row_length(const csr<V, host_view>& A, std::int64_t i) {
    return A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)];
}

template <class V>
std::vector<length_count> count_lengths(const csr<V, host_view>& A) {
    std::vector<std::int64_t> lengths(std::size_t(A.shape.rows));
    for (std::size_t i = 0; i < lengths.size(); ++i) lengths[i] = row_length(A, std::int64_t(i));
    std::sort(lengths.begin(), lengths.end());
    std::vector<length_count> counts;
    for (const std::int64_t n : lengths) {
        if (counts.empty() || counts.back().length != n) counts.push_back({n, 0});
        ++counts.back().rows;
    }
    return counts;
}

struct widths {
    std::int64_t sum = 0, last = 0;
};

/// The longest row of each group of `group` rows: summed, and of the last group.
template <class V>
widths group_widths(const csr<V, host_view>& A, std::int64_t group) {
    widths w;
    for (std::int64_t first = 0; first < A.shape.rows; first += group) {
        w.last = 0;
        const std::int64_t last = std::min<std::int64_t>(first + group, A.shape.rows);
        for (std::int64_t i = first; i < last; ++i) w.last = std::max(w.last, row_length(A, i));
        w.sum += w.last;
    }
    return w;
}

/// The same for groups of 32 rows after sorting by length within each scope.
template <class V>
std::int64_t sum_of_sorted_widths(const csr<V, host_view>& A) {
    constexpr std::size_t group = 32;
    std::int64_t sum = 0;
    std::vector<std::int64_t> lengths;
    for (std::int64_t first = 0; first < A.shape.rows; first += stats_sort_scope) {
        const std::int64_t last = std::min<std::int64_t>(first + stats_sort_scope, A.shape.rows);
        lengths.clear();
        for (std::int64_t i = first; i < last; ++i) lengths.push_back(row_length(A, i));
        std::sort(lengths.begin(), lengths.end(), std::greater<>());
        for (std::size_t k = 0; k < lengths.size(); k += group) sum += lengths[k];
    }
    return sum;
}

template <class V>
void count_diagonals(const csr<V, host_view>& A, matrix_stats& s) {
    std::vector<bool> seen(std::size_t(s.rows + s.cols), false);
    for_each_entry(A, 0, A.shape.rows, [&](index i, index j, V) {
        s.bandwidth = std::max<std::int64_t>(s.bandwidth, std::abs(std::int64_t(j) - i));
        seen[std::size_t(std::int64_t(j) - i + s.rows)] = true;
    });
    s.diagonals = std::count(seen.begin(), seen.end(), true);
}

/// Occupied side x side blocks, aligned at multiples of side.
template <class V>
std::int64_t count_blocks(const csr<V, host_view>& A, index side) {
    std::vector<index> last_row(std::size_t(A.shape.cols / side) + 1, -1);
    std::int64_t blocks = 0;
    for_each_entry(A, 0, A.shape.rows, [&](index i, index j, V) {
        index& seen = last_row[std::size_t(j / side)];
        if (seen == i / side) return;
        seen = i / side;
        ++blocks;
    });
    return blocks;
}

}  // namespace

template <class V>
matrix_stats compute_stats(const csr<V, host_view>& A) {
    matrix_stats s;
    s.rows = A.shape.rows, s.cols = A.shape.cols, s.nnz = std::int64_t(A.val.size());
    s.row_lengths = count_lengths(A);
    for (std::size_t g = 0; g < std::size(stats_groups); ++g) {
        const widths w = group_widths(A, stats_groups[g]);
        s.group_width[g] = w.sum, s.last_group_width[g] = w.last;
    }
    s.sorted_group_width = sum_of_sorted_widths(A);
    count_diagonals(A, s);
#pragma omp parallel for schedule(dynamic)
    for (std::size_t b = 0; b < std::size(stats_block_sides); ++b)
        s.blocks[b] = count_blocks(A, stats_block_sides[b]);
    const packed_size packed = size_of_packed(A);
    s.packed_bytes = packed.bytes;
    s.packed_steps = packed.steps;
    return s;
}

#define NZ_INSTANTIATE(V) template matrix_stats compute_stats(const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
