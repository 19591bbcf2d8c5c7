// Rows and columns scaled by powers of two, which round nothing.
#pragma once

#include <bit>
#include <cmath>
#include <limits>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Row i of a matrix times 2^rows[i], its column j times 2^cols[j].
struct power_scaling {
    host_vector<int> rows, cols;
};

/// The scaling after which the largest magnitude in every row and column is near 1: the same for
/// rows and columns where A's magnitudes are symmetric. Rows and columns without entries that are
/// not zero keep their size. Deterministic. Throws argument_error, naming the row, where an entry
/// is not finite. O(nnz) for each of up to ten sweeps, which halve what is left. first_row: of a
/// larger matrix, where A's begin, from which rows are named.
/// Source   Ruiz 2001, RAL-TR-2001-034.
template <class V>
power_scaling equilibration(const csr<V, host_view>& A, index first_row = 0);
/// The same of A's log2_magnitudes.
template <class V>
power_scaling equilibration(const csr<V, host_view>& A, std::span<const double> sizes);

/// log2 |v| of all entries; -infinity where an entry is zero. Throws argument_error, naming the
/// row, where one is not finite.
template <class V>
host_vector<double> log2_magnitudes(const csr<V, host_view>& A, index first_row);

/// v 2^k, as std::ldexp has it, which is a call.
template <class V>
V times_power_of_2(V v, int k) {
    if constexpr (is_complex<V>) {
        return {times_power_of_2(v.real(), k), times_power_of_2(v.imag(), k)};
    } else {
        using bits = std::conditional_t<sizeof(V) == 4, std::uint32_t, std::uint64_t>;
        constexpr int digits = std::numeric_limits<V>::digits - 1,
                      bias = std::numeric_limits<V>::max_exponent - 1;
        if (k <= -bias || k > bias) return std::ldexp(v, k);
        return v * std::bit_cast<V>(bits(bias + k) << digits);  // rounded once, as there
    }
}

}  // namespace nz
