// The inner loops that explicit SIMD makes faster, chosen at run time by what the machine has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "nonzero/core/space.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

template <class V>
struct panel;

/// A matrix of this many bytes streams from memory. Prefetching is faster then, and slower for
/// smaller ones; the limit was tried on an EPYC with 32 MB of last-level cache.
inline constexpr std::size_t out_of_cache_bytes = std::size_t(16) << 20;

/// sums[r] += the product of row r of a panel with x, padding left out, as multiply_panel does and
/// with the same bits.
template <class V>
using panel_loop = void (*)(const panel<V>& A, const V* x, V* sums);
/// Those that this machine can run, the fastest first: of AVX-512, with gathers and with loads of x
/// put together; of AVX2 or NEON, with loads. Empty where it has none. V is float or double.
template <class V>
std::span<const panel_loop<V>> simd_panel_loops();

/// Some rows of a CSR: row i holds the entries [row_ptr[i], row_ptr[i + 1]).
template <class V, class P>
struct csr_rows {
    const P* row_ptr;
    const index* col_ind;
    const V* val;
    std::int64_t first, last;  ///< the rows [first, last)
    bool streaming;            ///< the matrix streams from beyond the caches: fetch ahead
};

/// y[i] = alpha * (row i times x) + beta * y[i] for those rows; y is not read where beta is zero.
/// The same bits for a row whatever rows it is taken with.
template <class V, class P>
using rows_loop = void (*)(const csr_rows<V, P>&, V alpha, const V* x, V beta, V* y);
/// Those that this machine can run, the fastest first: of AVX-512, with gathers and with single
/// loads of x, and of AVX2, or of NEON: all of the same bits, on any machine.
/// Empty where it has none. V is float or double, P 32 or 64 bits wide.
template <class V, class P>
std::span<const rows_loop<V, P>> simd_rows_loops();

}  // namespace nz
