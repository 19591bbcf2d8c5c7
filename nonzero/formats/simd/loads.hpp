// Vectors of x put together from single loads, for the files that hold loops of AVX2 and AVX-512.
#pragma once

#include <cstdint>
#include <cstring>

#include "nonzero/core/space.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define NZ_AVX2 __attribute__((target("avx2")))
#define NZ_AVX512 __attribute__((target("avx2,avx512f,avx512vl")))
// Of pieces of a loop; a call would spill their vectors, and take three times as long.
#define NZ_ALWAYS_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define NZ_UNROLL _Pragma("unroll")
#else
#define NZ_UNROLL _Pragma("GCC unroll 8")
#endif
#endif

#if defined(NZ_AVX512)
namespace nz {

[[nodiscard]] bool has_avx512();  ///< and its instructions on shorter vectors
/// Whether gathers beat single loads here: measured once, in some 50 us, since no name of a
/// processor tells it. On Sapphire Rapids they do, by 1.05 to 1.15 over all of a product; on Zen 4
/// they take 1.2 to 1.6 times as long, and on Intel's from Skylake to Ice Lake a security fix of
/// 2023 made them several times slower (docs/decisions/simd.md). It decides about time only: the
/// bits are the same.
[[nodiscard]] bool gathers_are_fast();

/// Prefetches the cache lines of `bytes` bytes, `ahead` bytes later.
template <std::size_t bytes, std::size_t ahead>
NZ_ALWAYS_INLINE void prefetch_lines(const void* now) {
    constexpr std::size_t line = 64;
    for (std::size_t k = 0; k < bytes; k += line)
        _mm_prefetch(static_cast<const char*>(now) + ahead + k, _MM_HINT_T0);
}

/// Vectors of eight, of which a row or a chunk keeps its sums.
inline constexpr int eight = 8;

// Two columns are read at once: a load less for every two entries is a seventh of the time.

NZ_AVX2 NZ_ALWAYS_INLINE __m128d two(std::uint64_t columns, const double* x) {
    return _mm_loadh_pd(_mm_load_sd(x + std::uint32_t(columns)), x + (columns >> 32));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m128 two(std::uint64_t columns, const float* x) {
    const __m128 low = _mm_load_ss(x + std::uint32_t(columns));
    return _mm_insert_ps(low, _mm_load_ss(x + (columns >> 32)), 0x10);
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d join(__m128d low, __m128d high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 join(__m128 a, __m128 b, __m128 c, __m128 d) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_movelh_ps(a, b)), _mm_movelh_ps(c, d),
                                1);
}

/// The columns k and k + 1.
NZ_ALWAYS_INLINE std::uint64_t pair(const index* col_ind, int k) {
    std::uint64_t columns;
    std::memcpy(&columns, col_ind + k, sizeof columns);
    return columns;
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d four(const index* col_ind, const double* x) {
    return join(two(pair(col_ind, 0), x), two(pair(col_ind, 2), x));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 all(const index* col_ind, const float* x) {
    return join(two(pair(col_ind, 0), x), two(pair(col_ind, 2), x), two(pair(col_ind, 4), x),
                two(pair(col_ind, 6), x));
}

}  // namespace nz
#endif
