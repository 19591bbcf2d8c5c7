// The eight lanes of vectors.hpp in AVX2.
#pragma once

#include <immintrin.h>

#include <array>
#include <cstdint>

#include "nonzero/core/space.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {
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
/// By eight numbers of 8 bits in a word.
template <class V>
NZ_AVX2 NZ_ALWAYS_INLINE auto gather8(std::uint64_t bytes, const V* x) {
    const __m128i numbers = _mm_cvtepu8_epi16(_mm_cvtsi64_si128(std::int64_t(bytes)));
    return gather8(std::uint64_t(_mm_cvtsi128_si64(numbers)),
                   std::uint64_t(_mm_extract_epi64(numbers, 1)), x);
}

/// Eight floats as elements of the second argument's type.
NZ_AVX2 NZ_ALWAYS_INLINE doubles widened(const float* p, double) {
    return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 widened(const float* p, float) { return load(p); }

// sums + val * x[column] for eight lanes, but for those whose column is all ones: padding. They
// must not read x, which need not be finite.

template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint16_t* column, const auto* x, S val) {
    const __m128i columns = _mm_loadu_si128(reinterpret_cast<const __m128i*>(column));
    const __m128i padding = _mm_cmpeq_epi16(columns, _mm_set1_epi16(-1));
    if (_mm_movemask_epi8(padding) == 0)
        return sums + val * gather8(word_at(column), word_at(column + 4), x);
    const __m128i some = _mm_andnot_si128(padding, columns);
    const S from = gather8(std::uint64_t(_mm_cvtsi128_si64(some)),
                           std::uint64_t(_mm_extract_epi64(some, 1)), x);
    const __m256i in = _mm256_cvtepi16_epi32(_mm_xor_si128(padding, _mm_set1_epi16(-1)));
    return sums + keep(val * from, in);
}
template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint32_t* column, const auto* x, S val) {
    const __m256i columns = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
    const __m256i padding = _mm256_cmpeq_epi32(columns, _mm256_set1_epi32(-1));
    if (_mm256_movemask_epi8(padding) == 0)
        return sums + val * gather8(reinterpret_cast<const index*>(column), x);
    alignas(32) std::array<index, simd_lanes> some;
    _mm256_store_si256(reinterpret_cast<__m256i*>(some.data()),
                       _mm256_andnot_si256(padding, columns));
    const __m256i in = _mm256_xor_si256(padding, _mm256_set1_epi32(-1));
    return sums + keep(val * gather8(some.data(), x), in);
}

/// The same of eight x side by side; the lanes whose bit is set.
template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_side_by_side(S sums, std::uint32_t bits, const auto* x, S val) {
    if (bits == 0xff) return sums + val * load(x);
    const __m256i in = lanes_of(bits);
    return sums + keep(val * load(x, in), in);
}

// -- rows: sum k mod 8 has entry k ---------------------------------------------------------------

alignas(64) constexpr std::int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
/// n words of ones, then zeros.
NZ_AVX2 NZ_ALWAYS_INLINE __m256i first_words(int n) {
    const std::int32_t* const at = ones_then_zeros + simd_lanes - n;
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at));
}

/// sums + the products of n < 4 entries. Elements behind them are not read.
NZ_AVX2 NZ_ALWAYS_INLINE __m256d add_last(__m256d s, const index* col_ind, const double* val,
                                          const double* x, int n) {
    const __m128i narrow = _mm256_castsi256_si128(first_words(n));
    const __m256i wide = first_words(2 * n);
    const __m128i col = _mm_maskload_epi32(col_ind, narrow);
    const __m256d from = concatenate(gather2(std::uint64_t(_mm_cvtsi128_si64(col)), x),
                                     gather2(std::uint64_t(_mm_extract_epi64(col, 1)), x));
    const __m256d terms = _mm256_maskload_pd(val, wide) * from;
    return s + _mm256_and_pd(terms, _mm256_castsi256_pd(wide));
}
/// The same of n < 8.
NZ_AVX2 NZ_ALWAYS_INLINE doubles add_last(doubles s, const index* col_ind, const double* val,
                                          const double* x, int n) {
    if (n < 4) return {add_last(s.low, col_ind, val, x, n), s.high};
    return {s.low + _mm256_loadu_pd(val) * gather4(col_ind, x),
            n > 4 ? add_last(s.high, col_ind + 4, val + 4, x, n - 4) : s.high};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 add_last(__m256 s, const index* col_ind, const float* val,
                                         const float* x, int n) {
    const __m256i in = first_words(n);
    const __m256i col = _mm256_maskload_epi32(col_ind, in);
    const __m128i low = _mm256_castsi256_si128(col), high = _mm256_extracti128_si256(col, 1);
    const __m256 from = concatenate(gather2(std::uint64_t(_mm_cvtsi128_si64(low)), x),
                                    gather2(std::uint64_t(_mm_extract_epi64(low, 1)), x),
                                    gather2(std::uint64_t(_mm_cvtsi128_si64(high)), x),
                                    gather2(std::uint64_t(_mm_extract_epi64(high, 1)), x));
    const __m256 terms = load(val, in) * from;
    return s + keep(terms, in);
}

// The eight sums of a row added to four, and the totals of four rows.
NZ_AVX2 NZ_ALWAYS_INLINE __m256d halved(doubles s) { return s.low + s.high; }
NZ_AVX2 NZ_ALWAYS_INLINE __m128 halved(__m256 s) {
    return _mm_add_ps(_mm256_castps256_ps128(s), _mm256_extractf128_ps(s, 1));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d totals(__m256d a, __m256d b, __m256d c, __m256d d) {
    const __m256d ab = _mm256_hadd_pd(a, b), cd = _mm256_hadd_pd(c, d);
    return _mm256_add_pd(_mm256_permute2f128_pd(ab, cd, 0x20),
                         _mm256_permute2f128_pd(ab, cd, 0x31));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m128 totals(__m128 a, __m128 b, __m128 c, __m128 d) {
    return _mm_hadd_ps(_mm_hadd_ps(a, b), _mm_hadd_ps(c, d));
}

NZ_AVX2 NZ_ALWAYS_INLINE double first(__m256d v) { return _mm256_cvtsd_f64(v); }
NZ_AVX2 NZ_ALWAYS_INLINE float first(__m128 v) { return _mm_cvtss_f32(v); }

}  // namespace avx2
}  // namespace nz
