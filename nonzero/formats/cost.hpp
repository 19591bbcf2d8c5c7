// Helpers by which formats and kernels tell the cost of a product.
#pragma once

#include <string>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/estimate.hpp"
#include "nonzero/formats/matrix_stats.hpp"

namespace nz {

/// Rows of a warp. Stored columns and diagonals start at multiples of it.
inline constexpr offset warp_rows = 32;
/// `rows` up to the next multiple of warp_rows.
constexpr offset round_up_to_warp(offset rows) {
    return (rows + warp_rows - 1) / warp_rows * warp_rows;
}

/// A padded layout declines a matrix for which it would store more entries than this a nonzero.
inline constexpr double max_stored_per_nonzero = 3;
/// Empty, or why a layout that would store `stored` entries for `nnz` nonzeros declines.
std::string declined_padding(double stored, double nnz);

/// Bytes that `count` positions up to `largest` take.
constexpr double offset_bytes(double count, double largest) {
    return count * (largest <= double(offset_vector::max_narrow) ? 4 : 8);
}

/// Bytes of x read once and y written once.
template <class V>
double vector_bytes(const matrix_stats& s) {
    return double(s.rows + s.cols) * sizeof(V);
}

/// The work of a kernel beyond moving bytes, in the units of estimate. A kernel's tag tells it by
/// the hooks `work_on_cpu` and `work_on_gpu`; for a kernel without them the zeros stand.
struct work {
    double sector_requests = 0, work_units = 0, critical_units = 0, launches = 1;
    double imbalance = 1;
    bool bypasses_l1 = false;
};

estimate with_work(estimate, const work&);

/// Dependent loads of a warp outside its entries: its block starts, it finds its row, reduces its
/// lanes and writes y.
inline constexpr double units_of_a_warp = 6;

/// One thread a row. widths: the longest row of each warp, summed over the warps.
work thread_a_row_work(const matrix_stats&, double widths, double widest, double units_an_entry);
/// Dependent loads an entry of sum_strided (formats/panel.cuh), which takes eight entries at a
/// time: columns and values, then x in two halves, because it tests for padding in between.
inline constexpr double strided_units = 3.0 / 8;
/// Dependent loads an entry of a loop unrolled four times: columns and values, then x.
inline constexpr double unrolled_units = 2.0 / 4;

// The factors of CPU loops, here and in the formats, were fitted to the times of twenty-five
// matrices on one thread of a 2-core EPYC (docs/experiments/planner.md).

/// A CPU loop over `stored` entries that tests each for padding.
inline work padded_work(double stored, double rows) {
    return {.work_units = 0.9 * stored + 3 * rows};
}
/// The same where the threads share every stored column. A thread's entries then lie in as many
/// separate ranges as a row is long, which prefetchers do not follow. Fitted to thirty matrices on
/// one and two threads; a matrix in the caches takes half of it.
inline work strided_work(double stored) { return {.work_units = 2.2 * stored}; }

/// The longest row that one GPU thread may walk alone: 0.1 ms at an estimated 0.1 us an entry. With
/// it no kernel under this rule ran over 50 times slower than the best (H200, thirty matrices).
inline constexpr std::int64_t longest_walk_on_gpu = 1024;
/// Hooks of GPU kernels that give a row to one thread, or to one warp, as a tag names them:
/// `kernel_hooks hooks{.work_on_gpu = work_of_thread_a_row}`.
inline std::int64_t longest_row_of_a_thread(const matrix_stats&) { return longest_walk_on_gpu; }
inline std::int64_t longest_row_of_a_warp(const matrix_stats&) { return longest_walk_on_gpu * 32; }
inline work work_of_thread_a_row(const matrix_stats& s) {
    return thread_a_row_work(s, double(s.group_width[0]), double(s.max_row_nnz()), strided_units);
}
/// 32 lanes take 128 entries in two dependent loads, and a row of four entries as well.
work work_of_warp_a_row(const matrix_stats&);

}  // namespace nz
