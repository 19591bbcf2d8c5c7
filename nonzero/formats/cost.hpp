// What one product takes by a method, in the planner's units, and what formats and kernels share in
// telling it.
#pragma once

#include <string>

#include "nonzero/formats/matrix_stats.hpp"

namespace nz {

/// What a method says of a matrix: what one product takes, or why it declines. Declining is no
/// error. What a method does not say is left 0, and stands for the usual.
struct estimate {
    double matrix_bytes = 0;    ///< of the arrays built, each read once a product     [bytes]
    double vector_bytes = 0;    ///< of x and y, each moved once                       [bytes]
    std::string declined = {};  ///< empty, or the reason in one sentence
    double launches = 1;        ///< kernels, or parallel regions, one after the other
    /// Loads of x that no neighbouring lane or entry shares: sectors of 32 bytes. 0: one a nonzero.
    double gathers = 0;
    /// What the workers (a CPU's threads, the warps that a GPU holds at once) do one after the
    /// other, summed over all of them: entries on a CPU, loads that wait for the load before on a
    /// GPU. 0: one a nonzero, 32 of which a warp does at once.
    double steps = 0;
    double critical_steps = 0;  ///< of the worker that has most to do, however many there are
    double imbalance = 1;    ///< work of the busiest worker over the mean, where it is shared out
    bool passes_by = false;  ///< on a GPU a large matrix leaves the first-level cache to x
    /// Bytes that the building moves on the CPU; 0: CSR read twice and the layout written once.
    double setup_bytes = 0;
    /// Bytes that the building moves on the GPU, where it builds there and needs no setup_bytes.
    double gpu_setup_bytes = 0;
    [[nodiscard]] double bytes() const { return matrix_bytes + vector_bytes; }
};

/// Rows that a warp of a GPU takes at once: columns and diagonals stored one after the other start
/// at multiples of it.
inline constexpr offset warp_rows = 32;
/// `rows` up to the next multiple of warp_rows.
constexpr offset whole_warps(offset rows) { return (rows + warp_rows - 1) / warp_rows * warp_rows; }

/// A layout that pads declines where it would store more entries than this a nonzero.
inline constexpr double max_stored_per_nonzero = 3;
/// Empty, or why a layout that would store `stored` entries for `nnz` nonzeros declines.
std::string declined_padding(double stored, double nnz);

/// Bytes of x read once and y written once.
template <class V>
double vector_bytes(const matrix_stats& s) {
    return double(s.rows + s.cols) * sizeof(V);
}

/// What a kernel does besides moving bytes, in the units of estimate. Its tag says so by
/// `work_on_cpu(stats)` and `work_on_gpu(stats)`; a kernel without stands for the usual.
struct work {
    double gathers = 0, steps = 0, critical_steps = 0, launches = 1;
    double imbalance = 1;
    bool passes_by = false;
};

/// Steps of a warp besides those of its entries: its block is started, it looks for its row, adds
/// up its lanes and writes y.
inline constexpr double steps_of_a_warp = 6;

/// One thread a row: `widths` is the sum over the warps of the longest row of each.
work thread_a_row_work(const matrix_stats&, double widths, double widest, double steps_an_entry);
/// Steps an entry of sum_strided (formats/panel.cuh), which takes eight at a time: their columns
/// and values, then x in two parts, as padding is asked for in between.
inline constexpr double strided_steps = 3.0 / 8;
/// Steps an entry of a plain loop unrolled four times: columns and values, then x.
inline constexpr double unrolled_steps = 2.0 / 4;

// The steps of loops on a CPU below, and of those that formats tell of themselves, were fitted to
// the times of twenty-five matrices on one thread of a 2-core EPYC (docs/decisions/planner.md).

/// What a loop over `stored` entries of so many rows does on a CPU that asks of each whether it is
/// padding.
inline work padded_work(double stored, double rows) { return {.steps = 0.9 * stored + 3 * rows}; }
/// The same where threads share every stored column, so that what one of them reads is no one
/// stretch of memory: as many stretches as a row is long, which prefetchers do not follow. By
/// thirty matrices on one and two threads; from within the caches half as many.
inline work strided_work(double stored) { return {.steps = 2.2 * stored}; }

/// The longest row that one GPU thread may walk alone: 0.1 ms at an estimated 0.1 us an entry. With
/// it no kernel under this rule ran over 50 times slower than the best (H200, thirty matrices).
inline constexpr std::int64_t longest_walk_on_gpu = 1024;
/// What the tag of a GPU kernel derives from that gives a row to one thread, or to one warp.
struct thread_a_row {
    static std::int64_t longest_row_on_gpu(const matrix_stats&) { return longest_walk_on_gpu; }
    static work work_on_gpu(const matrix_stats& s) {
        return thread_a_row_work(s, double(s.group_width[0]), double(s.max_row_nnz()),
                                 strided_steps);
    }
};
struct warp_a_row {
    static std::int64_t longest_row_on_gpu(const matrix_stats&) { return longest_walk_on_gpu * 32; }
    /// 32 lanes take 128 entries with two steps, and as long for a row of four.
    static work work_on_gpu(const matrix_stats&);
};

}  // namespace nz
