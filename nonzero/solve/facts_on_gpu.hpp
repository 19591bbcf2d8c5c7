// Facts about a matrix on a GPU that choices are made by: real values.
#pragma once

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/vector/vector_space.hpp"

namespace nz {

/// The signs of a diagonal's entries, and the first rows of some; -1: there is none.
struct diagonal_signs {
    std::int64_t above = 0, below = 0;                      ///< entries above and below 0
    std::int64_t first_not_positive = -1, first_zero = -1;  ///< rows
};
/// Waits for on.stream, as all that follow do.
template <class V>
diagonal_signs signs_of(gpu on, device_span<V> diagonal);

/// The rows of C in the saddle point that `find_saddle` would find; 0 where it would find none, or
/// where a row has more entries than `longest_row`. A: its rows ascending.
template <class V>
std::int64_t constraints_of(gpu on, const csr<V, device_view>& A, device_span<V> diagonal,
                            const diagonal_signs& signs, offset longest_row);

/// | |A| |x| + |b| |, over |b|, as rounding_scale of a matrix on the CPU has it, but in double: not
/// finite, or 0 over 0, where squares leave its range.
template <class V>
double rounding_scale(gpu on, const csr<V, device_view>& A, device_span<V> b, device_span<V> x);

/// The largest magnitude in each row, on the CPU.
template <class V>
std::vector<double> row_sizes(gpu on, const csr<V, device_view>& A);

}  // namespace nz
