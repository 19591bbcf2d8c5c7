// The loop over rows of blocks in explicit SIMD, chosen at run time by what the machine has.
#pragma once

#include "nonzero/formats/bsr/bsr.hpp"

namespace nz {

/// The rows of blocks [first, last) of y = alpha A x + beta y. ptr: where each starts. y is not
/// read where beta is zero. The same bits whatever rows of blocks are taken together; not those of
/// the plain loop, which adds up every block by itself.
template <class V, class P>
using block_rows_loop = void (*)(const P* ptr, V alpha, const bsr<V, host_view>& A, const V* x,
                                 V beta, V* y, std::int64_t first, std::int64_t last);
/// Whether the machine has such a loop.
[[nodiscard]] bool has_simd_block_rows();
/// The loop in AVX-512 or NEON for square blocks of 2, 3, 4, 6 or 8; null for others, and where the
/// machine has none. V is float or double, P 32 or 64 bits wide.
template <class V, class P>
block_rows_loop<V, P> simd_block_rows_loop(const bsr<V, host_view>& A);

}  // namespace nz
