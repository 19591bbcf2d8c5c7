// Lessons of a study on a CPU, in a few lines: which method won on which matrix and why, what the
// planner chose, and what to try next.
#pragma once

#include "cli/study/study.hpp"
#include "nonzero/core/json.hpp"

namespace nz::cli {

/// Of one matrix. Null where a method was not measured; the results are the matrix_result's.
struct lesson {
    const matrix_result* matrix = nullptr;
    const benchmark_result* fastest = nullptr;  ///< never null
    const benchmark_result* plain =
        nullptr;  ///< csr.static on all threads: the loop over rows, cut in parts
    const benchmark_result* classic =
        nullptr;  ///< the fastest whose layout is not packed, nonzero's own
    const benchmark_result* planned = nullptr;
    std::string why = {};  ///< the matrix and the fastest method's layout, in numbers

    /// How many times as fast `t` is as `reference`; 0 where one of them is missing.
    [[nodiscard]] static double ratio(const benchmark_result* t, const benchmark_result* reference);
};

/// One for each matrix on which something was measured. `threads`: the most that were studied.
std::vector<lesson> lessons_of(std::span<const matrix_result>, int threads);
/// The first lines of a study: whether the machine was busy, and what was learned, in three
/// figures.
void print_summary(std::span<const matrix_result> matrices, std::span<const lesson> lessons);
void print_lessons(std::span<const lesson>);
/// Commands for the matrix on which the fastest method is furthest ahead of plain CSR.
void print_next_steps(std::span<const lesson>);
nz::json to_json(const lesson&);

}  // namespace nz::cli
