// The checks of what nz::solve is given, wherever it lies.
#pragma once

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "nonzero/formats/columns.hpp"
#include "nonzero/solve/direct/sparse_factors.hpp"
#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/solve.hpp"

namespace nz {

inline void expect_square(nz::shape s) {
    if (s.rows != s.cols)
        throw unsuitable("A is " + std::to_string(s.rows) + " x " + std::to_string(s.cols) +
                         ", not square");
}

inline void check_arguments(std::size_t rows, std::size_t b, std::size_t x,
                            const system_options& o) {
    for (const std::size_t len : {b, x})
        if (len != rows)
            throw argument_error("solve: a vector of " + std::to_string(len) +
                                 " elements, expected " + std::to_string(rows));
    if (o.block < 0) throw argument_error("solve: block is below 0");
    if (o.near.count < 0 || o.near.val.size() != rows * std::size_t(o.near.count))
        throw argument_error(fmt::format("solve: {} candidates of {} rows have {} values",
                                         o.near.count, rows, o.near.val.size()));
    if (!std::ranges::all_of(o.near.val, [](double v) { return std::isfinite(v); }))
        throw argument_error("solve: a candidate is not finite");
    if (o.fill_level < 0) throw argument_error("solve: fill_level is below 0");
    if (o.overlap < 0 || o.overlap > 10)
        throw argument_error(fmt::format("solve: overlap is {}, expected 0 to 10", o.overlap));
    if (const auto why = why_no(o.direct_solver); !why.empty()) throw unavailable(why);
    check_options("solve", o);
}
template <class In, class Out>
void check_arguments(std::size_t rows, const columns<In>& b, const columns<Out>& x,
                     const system_options& o) {
    check_arguments(rows, rows, rows, o);
    check_columns("solve", "B", b, x.count, rows);
    check_columns("solve", "X", x, b.count, rows);
}

/// Of a matrix in a GPU's memory; who: the function.
[[noreturn]] inline void refuse_complex(const std::string& who) {
    throw unavailable(who + ": complex matrices are taken from the CPU's memory only");
}

}  // namespace nz
