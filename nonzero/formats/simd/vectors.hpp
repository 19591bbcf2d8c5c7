// Vectors of eight elements, a sum each of a row or of a chunk. The verbs are the same for either
// instruction set: load, store, spread; products and sums are the compiler's operators.
#pragma once

#include <cstdint>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/simd/targets.hpp"

#if defined(NZ_AVX2)
#include <immintrin.h>

namespace nz {

inline constexpr int simd_lanes = 8;

namespace avx2 {

/// Eight doubles. Eight floats are a __m256.
struct doubles {
    __m256d low, high;
    NZ_AVX2 NZ_ALWAYS_INLINE friend doubles operator+(doubles a, doubles b) {
        return {a.low + b.low, a.high + b.high};
    }
    NZ_AVX2 NZ_ALWAYS_INLINE friend doubles operator*(doubles a, doubles b) {
        return {a.low * b.low, a.high * b.high};
    }
};

NZ_AVX2 NZ_ALWAYS_INLINE doubles load(const double* p) {
    return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 load(const float* p) { return _mm256_loadu_ps(p); }
NZ_AVX2 NZ_ALWAYS_INLINE void store(double* p, __m256d v) { _mm256_storeu_pd(p, v); }
NZ_AVX2 NZ_ALWAYS_INLINE void store(double* p, doubles v) {
    store(p, v.low);
    store(p + 4, v.high);
}
NZ_AVX2 NZ_ALWAYS_INLINE void store(float* p, __m256 v) { _mm256_storeu_ps(p, v); }
/// As many as a register has.
NZ_AVX2 NZ_ALWAYS_INLINE __m256d load_register(const double* p) { return _mm256_loadu_pd(p); }
NZ_AVX2 NZ_ALWAYS_INLINE __m256 load_register(const float* p) { return load(p); }
NZ_AVX2 NZ_ALWAYS_INLINE doubles spread(double v) { return {_mm256_set1_pd(v), _mm256_set1_pd(v)}; }
NZ_AVX2 NZ_ALWAYS_INLINE __m256 spread(float v) { return _mm256_set1_ps(v); }

// The lanes for which a mask has 32 ones; the others become 0, and nothing is read for them.
NZ_AVX2 NZ_ALWAYS_INLINE __m256i wide_low(__m256i in) {
    return _mm256_cvtepi32_epi64(_mm256_castsi256_si128(in));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256i wide_high(__m256i in) {
    return _mm256_cvtepi32_epi64(_mm256_extracti128_si256(in, 1));
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles load(const double* p, __m256i in) {
    return {_mm256_maskload_pd(p, wide_low(in)), _mm256_maskload_pd(p + 4, wide_high(in))};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 load(const float* p, __m256i in) {
    return _mm256_maskload_ps(p, in);
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles keep(doubles v, __m256i in) {
    return {_mm256_and_pd(v.low, _mm256_castsi256_pd(wide_low(in))),
            _mm256_and_pd(v.high, _mm256_castsi256_pd(wide_high(in)))};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 keep(__m256 v, __m256i in) {
    return _mm256_and_ps(v, _mm256_castsi256_ps(in));
}
/// The lanes whose bit is set.
NZ_AVX2 NZ_ALWAYS_INLINE __m256i lanes_of(std::uint32_t bits) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(bits)), each), each);
}

// gatherN: N elements of x as one vector, by single loads. Their numbers are read by loads of 64
// bits, which spares a load for every two entries, or four.

NZ_ALWAYS_INLINE std::uint64_t word_at(const void* p) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}
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
NZ_AVX2 NZ_ALWAYS_INLINE __m256 concatenate(__m128 low, __m128 high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 concatenate(__m128 a, __m128 b, __m128 c, __m128 d) {
    return concatenate(_mm_movelh_ps(a, b), _mm_movelh_ps(c, d));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d gather4(const index* at, const double* x) {
    return concatenate(gather2(word_at(at), x), gather2(word_at(at + 2), x));
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles gather8(const index* at, const double* x) {
    return {gather4(at, x), gather4(at + 4, x)};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 gather8(const index* at, const float* x) {
    return concatenate(gather2(word_at(at), x), gather2(word_at(at + 2), x),
                       gather2(word_at(at + 4), x), gather2(word_at(at + 6), x));
}
/// By four numbers of 16 bits in a word.
NZ_AVX2 NZ_ALWAYS_INLINE __m256d gather4(std::uint64_t word, const double* x) {
    return concatenate(_mm_loadh_pd(_mm_load_sd(x + (word & 0xffff)), x + (word >> 16 & 0xffff)),
                       _mm_loadh_pd(_mm_load_sd(x + (word >> 32 & 0xffff)), x + (word >> 48)));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m128 gather4(std::uint64_t word, const float* x) {
    const __m128 two = _mm_insert_ps(_mm_load_ss(x + (word & 0xffff)),
                                     _mm_load_ss(x + (word >> 16 & 0xffff)), 0x10);
    const __m128 three = _mm_insert_ps(two, _mm_load_ss(x + (word >> 32 & 0xffff)), 0x20);
    return _mm_insert_ps(three, _mm_load_ss(x + (word >> 48)), 0x30);
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles gather8(std::uint64_t low, std::uint64_t high, const double* x) {
    return {gather4(low, x), gather4(high, x)};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 gather8(std::uint64_t low, std::uint64_t high, const float* x) {
    return concatenate(gather4(low, x), gather4(high, x));
}

}  // namespace avx2

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
#endif
