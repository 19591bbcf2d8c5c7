// The loop over the entries of a packed chunk in explicit SIMD, chosen at run time by what the
// machine has.
#pragma once

#include <span>

#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/packed/values.hpp"
#include "nonzero/formats/simd/loads.hpp"

namespace nz {

/// sums[l] = what lane l of a chunk sums to, for its 32 lanes, entry after entry: the bits of the
/// plain loop. code, at: where the chunk's columns or diagonals and its values start.
template <value_encoding C, class V>
using chunk_loop = void (*)(const packed_chunk&, const std::uint32_t* code, decoder<C, V> value,
                            std::size_t at, const V* x, V* sums);
/// Those that this machine can run, the fastest first: of AVX-512, with gathers, and of AVX2. Empty
/// where it has neither. V is float or double. streaming: the matrix streams from beyond the
/// caches, and is fetched ahead.
template <value_encoding C, class V>
std::span<const chunk_loop<C, V>> simd_chunk_loops(bool streaming);

#if defined(NZ_AVX512)
/// That of AVX-512, for machines that have it.
template <value_encoding C, class V>
chunk_loop<C, V> chunk_loop_of_gathers(bool streaming);

/// Prefetches the columns and values that the lanes read eight steps later. Diagonals, whose x
/// streams as well, are slower with it (docs/experiments/simd.md).
template <class Column, value_encoding C, class V>
NZ_ALWAYS_INLINE void prefetch_entries(const Column* column, decoder<C, V> value, std::size_t at) {
    constexpr std::size_t ahead = 8, columns = 32 * sizeof(Column),
                          values = 32 * encoded_bytes<V>(C);
    prefetch_lines<columns, ahead * columns>(column);
    if constexpr (values > 0)
        prefetch_lines<values, ahead * values>(value.val + encoded_bytes<V>(C) * at);
}
#endif

}  // namespace nz
