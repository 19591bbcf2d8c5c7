// Vectors of x put together from single loads, for the files that hold loops of AVX2 and AVX-512.
#pragma once

#include <cstdint>
#include <cstring>

#include "nonzero/core/space.hpp"

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define NZ_AVX2 __attribute__((target("avx2")))
#define NZ_AVX512 __attribute__((target("avx2,avx512f,avx512vl")))
// For the pieces of a loop: a call would spill their vectors (docs/decisions/simd.md).
#define NZ_ALWAYS_INLINE __attribute__((always_inline)) inline
#if defined(__clang__)
#define NZ_UNROLL _Pragma("unroll")
#else
#define NZ_UNROLL _Pragma("GCC unroll 8")
#endif
#endif

#if defined(NZ_AVX512)
namespace nz {

/// Whether the processor has AVX-512, with its instructions on shorter vectors.
[[nodiscard]] bool has_avx512();
/// Whether gathers are faster than single loads here. Measured once in a process, since no
/// processor name tells it: they are faster on Sapphire Rapids and slower on Zen 4, and a security
/// fix of 2023 slowed them on Intel's processors from Skylake to Ice Lake
/// (docs/experiments/simd.md). It decides about time only: the bits are the same.
[[nodiscard]] bool gathers_are_fast();

/// Prefetches the cache lines of `bytes` bytes, `ahead` bytes later.
template <std::size_t bytes, std::size_t ahead>
NZ_ALWAYS_INLINE void prefetch_lines(const void* now) {
    constexpr std::size_t line = 64;
    for (std::size_t k = 0; k < bytes; k += line)
        _mm_prefetch(static_cast<const char*>(now) + ahead + k, _MM_HINT_T0);
}

/// Elements that the vectors with the sums of a row or of a chunk have.
inline constexpr int simd_lanes = 8;

// gatherN: N elements of x as one vector. Two columns are read by one load of 64 bits, which spares
// a load for every two entries.

NZ_AVX2 NZ_ALWAYS_INLINE __m128d gather2(std::uint64_t columns, const double* x) {
    return _mm_loadh_pd(_mm_load_sd(x + std::uint32_t(columns)), x + (columns >> 32));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m128 gather2(std::uint64_t columns, const float* x) {
    const __m128 low = _mm_load_ss(x + std::uint32_t(columns));
    return _mm_insert_ps(low, _mm_load_ss(x + (columns >> 32)), 0x10);
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d concatenate(__m128d low, __m128d high) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), high, 1);
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 concatenate(__m128 a, __m128 b, __m128 c, __m128 d) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_movelh_ps(a, b)), _mm_movelh_ps(c, d),
                                1);
}

/// The columns k and k + 1.
NZ_ALWAYS_INLINE std::uint64_t column_pair(const index* col_ind, int k) {
    std::uint64_t columns;
    std::memcpy(&columns, col_ind + k, sizeof columns);
    return columns;
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d gather4(const index* col_ind, const double* x) {
    return concatenate(gather2(column_pair(col_ind, 0), x), gather2(column_pair(col_ind, 2), x));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 gather8(const index* col_ind, const float* x) {
    return concatenate(gather2(column_pair(col_ind, 0), x), gather2(column_pair(col_ind, 2), x),
                       gather2(column_pair(col_ind, 4), x), gather2(column_pair(col_ind, 6), x));
}

}  // namespace nz
#endif
