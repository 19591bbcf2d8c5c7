// A number that tells one pattern from another.
#pragma once

#include <cstdint>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/backend.hpp"

namespace nz {

/// A hash of where the entries of a CSR stand, the same for any number of threads. Two patterns
/// have the same one by a chance of 2^-64.
std::uint64_t pattern_hash(cpu on, const offset_span& row_ptr, std::span<const index> col_ind);
/// The same number of a pattern on a GPU. Waits for on.stream.
std::uint64_t pattern_hash(gpu on, const device_offset_span& row_ptr, device_span<index> col_ind);

/// Adds that number to *sum, in on.stream and without a wait.
void add_pattern_hash(gpu on, const device_offset_span& row_ptr, device_span<index> col_ind,
                      unsigned long long* sum);

/// Mixes a position and a number of the pattern; the hash is the sum of all of them.
/// Source: splitmix64, Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195.
NZ_HOST_DEVICE constexpr std::uint64_t pattern_part(std::uint64_t position, std::uint64_t number) {
    std::uint64_t h = position * 0x9e3779b97f4a7c15U + (number ^ 0xd1b54a32d192ed03U);
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9U;
    h = (h ^ h >> 27) * 0x94d049bb133111ebU;
    return h ^ h >> 31;
}

}  // namespace nz
