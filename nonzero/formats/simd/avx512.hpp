// The eight lanes of vectors.hpp in AVX-512.
#pragma once

#include <immintrin.h>

#include <cstdint>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {
namespace avx512 {

inline constexpr __mmask8 every_lane = 0xff;

// Eight doubles or floats; those that are not in become 0, and nothing is read for them.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d load(const double* p, __mmask8 in) {
    return _mm512_maskz_loadu_pd(in, p);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 load(const float* p, __mmask8 in) {
    return _mm256_maskz_loadu_ps(in, p);
}
NZ_AVX512 NZ_ALWAYS_INLINE void store(double* p, __m512d v) { _mm512_storeu_pd(p, v); }
NZ_AVX512 NZ_ALWAYS_INLINE void store(float* p, __m256 v) { _mm256_storeu_ps(p, v); }
NZ_AVX512 NZ_ALWAYS_INLINE __m512d spread(double v) { return _mm512_set1_pd(v); }
NZ_AVX512 NZ_ALWAYS_INLINE __m256 spread(float v) { return _mm256_set1_ps(v); }
/// sums + more in the lanes that are in.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d added(__m512d sums, __mmask8 in, __m512d more) {
    return _mm512_mask_add_pd(sums, in, sums, more);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 added(__m256 sums, __mmask8 in, __m256 more) {
    return _mm256_mask_add_ps(sums, in, sums, more);
}

// As many as a register has, and half of eight.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d load_register(const double* p) { return _mm512_loadu_pd(p); }
NZ_AVX512 NZ_ALWAYS_INLINE __m512 load_register(const float* p) { return _mm512_loadu_ps(p); }
NZ_AVX512 NZ_ALWAYS_INLINE void store(float* p, __m512 v) { _mm512_storeu_ps(p, v); }
NZ_AVX512 NZ_ALWAYS_INLINE __m256d load4(const double* p, __mmask8 in) {
    return _mm256_maskz_loadu_pd(in, p);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m128 load4(const float* p, __mmask8 in) {
    return _mm_maskz_loadu_ps(in, p);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512 load(const float* p, __mmask16 in) {
    return _mm512_maskz_loadu_ps(in, p);
}
NZ_AVX512 NZ_ALWAYS_INLINE void store(double* p, __m512d v, __mmask8 in) {
    _mm512_mask_storeu_pd(p, in, v);
}
NZ_AVX512 NZ_ALWAYS_INLINE void store(float* p, __m512 v, __mmask16 in) {
    _mm512_mask_storeu_ps(p, in, v);
}

/// Eight numbers of 8, 16 or 32 bits.
NZ_AVX512 NZ_ALWAYS_INLINE __m256i numbers(const std::uint8_t* p) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256i numbers(const std::uint16_t* p) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256i numbers(const std::uint32_t* p) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
}
/// The columns that are in; behind them nothing is read.
NZ_AVX512 NZ_ALWAYS_INLINE __m256i numbers(const index* p, __mmask8 in) {
    return _mm256_maskz_loadu_epi32(in, p);
}

/// x[at], 0 in the lanes that are not in.
NZ_AVX512 NZ_ALWAYS_INLINE __m512d gathered(const double* x, __m256i at, __mmask8 in) {
    return _mm512_mask_i32gather_pd(_mm512_setzero_pd(), in, at, x, sizeof *x);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 gathered(const float* x, __m256i at, __mmask8 in) {
    return _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), in, at, x, sizeof *x);
}

}  // namespace avx512
}  // namespace nz
