// The loop over a packed chunk's steps in explicit SIMD, chosen at run time by what the machine
// has.
#pragma once

#include "nonzero/formats/packed.hpp"

namespace nz {

/// sums[l] += what lane l of a chunk sums to, for its 32 lanes, step after step: the bits of the
/// plain loop. code, at: where the chunk's columns or diagonals and its values start.
template <value_coding C, class V>
using chunk_loop = void (*)(const packed_chunk&, const std::uint32_t* code, decoder<C, V> value,
                            std::size_t at, const V* x, V* sums);
/// That of AVX2; null where the machine has none. V is float or double. far: the matrix streams
/// from beyond the caches, and is fetched ahead.
template <value_coding C, class V>
chunk_loop<C, V> simd_chunk_loop(bool far);

}  // namespace nz
