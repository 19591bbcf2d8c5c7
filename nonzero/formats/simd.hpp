// The inner loops that explicit SIMD makes faster, chosen at run time by what the machine has.
#pragma once

#include <cstdint>
#include <span>

#include "nonzero/core/space.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

template <class V>
struct panel;

/// sums[r] += the product of row r of a panel with x, padding left out, as multiply_panel does and
/// with the same bits.
template <class V>
using panel_loop = void (*)(const panel<V>& A, const V* x, V* sums);
/// Those that this machine can run, the fastest first: of AVX-512, with gathers; of AVX2, with
/// loads of x put together. Empty where it has neither. V is float or double.
template <class V>
std::span<const panel_loop<V>> simd_panel_loops();

/// The product of a row's n entries with x.
template <class V>
using row_dot = V (*)(const index* col_ind, const V* val, const V* x, std::int64_t n);
/// Those that this machine can run: of AVX-512, with gathers. V is float or double.
template <class V>
std::span<const row_dot<V>> simd_row_dots();
/// The one that is faster than plain code here for rows of at least simd_row entries; null where
/// none is, as on AMD's processors, whose gathers are slower than loads.
template <class V>
row_dot<V> fastest_row_dot();
inline constexpr std::int64_t simd_row = 16;

}  // namespace nz
