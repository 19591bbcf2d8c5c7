// Values of which no two are equal: what a method does where a dictionary of values saves nothing.
#pragma once

#include <cstdint>
#include <span>

#include "nonzero/core/value.hpp"

namespace nz {

/// Multiplies each value by a random factor in [1/2, 1) of its own and writes the value's scattered
/// number into the lowest bits of the mantissa, as many as the numbers take, so that no two values
/// have the same bits. Complex values keep a half of the number in each part. Where floats are too
/// many for the 23 bits of their mantissas, up to 6 bits go into the exponent, and only the sign
/// remains of the original. A part that is zero or not finite counts as 1. The result depends on
/// the values and the seed alone. Throws argument_error beyond 2^29 floats and 2^46 others.
template <class V>
void make_distinct(std::span<V> val, std::uint64_t seed);

/// The same for a part of `count` values, those from number `first` on: each becomes what it
/// becomes where all are given at once. Throws argument_error also where the part is none.
template <class V>
void make_distinct(std::span<V> val, std::uint64_t seed, std::uint64_t first, std::uint64_t count);

/// How many different bit patterns the values have. Takes as much memory as the values once more;
/// throws device_error where that exceeds the machine's.
template <class V>
std::int64_t count_distinct(std::span<const V> val);

}  // namespace nz
