// The loop over the entries of a packed chunk in explicit SIMD, chosen at run time by what the
// machine has.
#pragma once

#include <span>

#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/packed/values.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {

/// sums[l] = what lane l of a chunk of A sums to, for its 32 lanes, entry after entry: the bits of
/// the plain loop.
template <class V>
using chunk_loop = void (*)(const packed<V, host_view>& A, const packed_chunk&, const V* x,
                            V* sums);
/// Those that this machine can run for values so encoded, the fastest first: of AVX-512, with
/// gathers, and of AVX2; or of NEON. Empty where it has none. V is float or double. streaming: the
/// matrix streams from beyond the caches, and is fetched ahead.
template <class V>
std::span<const chunk_loop<V>> simd_chunk_loops(value_encoding encoding, bool streaming);

/// Whether what the next steps read is fetched ahead. A matrix that a core's L2 holds is no faster
/// for it; one of 4 to 16 MB takes 0.6 to 0.95 of the time, though the last-level cache holds it
/// (docs/experiments/simd.md).
template <class V>
bool fetches_ahead(const packed<V, host_view>& A) {
    constexpr std::size_t least_bytes = std::size_t(2) << 20;
    return A.val.size() + A.indices.size() * sizeof(std::uint32_t) >= least_bytes;
}

/// The fastest loop over A's chunks; null where there is none.
template <class V>
chunk_loop<V> fastest_chunk_loop(const packed<V, host_view>& A) {
    if constexpr (std::floating_point<V>)
        if (const auto loops = simd_chunk_loops<V>(A.encoding, fetches_ahead(A)); !loops.empty())
            return loops.front();
    return nullptr;
}

#if defined(NZ_AVX512)
/// The loop in AVX-512, for machines that have it.
template <class V>
chunk_loop<V> chunk_loop_of_gathers(value_encoding encoding, bool streaming);
#endif

#if defined(NZ_LANES)
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
