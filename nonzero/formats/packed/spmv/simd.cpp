#include "nonzero/formats/packed/spmv/simd.hpp"

#include <algorithm>
#include <vector>

namespace nz {
#if defined(NZ_AVX2)
namespace {

// -- eight lanes of either type ------------------------------------------------------------------

struct doubles {
    __m256d low, high;
};
struct floats {
    __m256 all;
};

NZ_AVX2 NZ_ALWAYS_INLINE doubles load(const double* p) {
    return {_mm256_loadu_pd(p), _mm256_loadu_pd(p + 4)};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats load(const float* p) { return {_mm256_loadu_ps(p)}; }
NZ_AVX2 NZ_ALWAYS_INLINE void store(double* p, doubles v) {
    _mm256_storeu_pd(p, v.low);
    _mm256_storeu_pd(p + 4, v.high);
}
NZ_AVX2 NZ_ALWAYS_INLINE void store(float* p, floats v) { _mm256_storeu_ps(p, v.all); }
NZ_AVX2 NZ_ALWAYS_INLINE doubles spread(double v) { return {_mm256_set1_pd(v), _mm256_set1_pd(v)}; }
NZ_AVX2 NZ_ALWAYS_INLINE floats spread(float v) { return {_mm256_set1_ps(v)}; }
NZ_AVX2 NZ_ALWAYS_INLINE doubles times(doubles a, doubles b) {
    return {_mm256_mul_pd(a.low, b.low), _mm256_mul_pd(a.high, b.high)};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats times(floats a, floats b) { return {_mm256_mul_ps(a.all, b.all)}; }
NZ_AVX2 NZ_ALWAYS_INLINE doubles plus(doubles a, doubles b) {
    return {_mm256_add_pd(a.low, b.low), _mm256_add_pd(a.high, b.high)};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats plus(floats a, floats b) { return {_mm256_add_ps(a.all, b.all)}; }

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
NZ_AVX2 NZ_ALWAYS_INLINE floats load(const float* p, __m256i in) {
    return {_mm256_maskload_ps(p, in)};
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles keep(doubles v, __m256i in) {
    return {_mm256_and_pd(v.low, _mm256_castsi256_pd(wide_low(in))),
            _mm256_and_pd(v.high, _mm256_castsi256_pd(wide_high(in)))};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats keep(floats v, __m256i in) {
    return {_mm256_and_ps(v.all, _mm256_castsi256_ps(in))};
}
/// The lanes whose bit is set.
NZ_AVX2 NZ_ALWAYS_INLINE __m256i lanes_of(std::uint32_t bits) {
    const __m256i each = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(int(bits)), each), each);
}

// -- eight elements of x or of a table, by numbers of 8, 16 or 32 bits ----------------------------

template <class T>
NZ_ALWAYS_INLINE std::uint64_t word_at(const T* p) {
    std::uint64_t word;
    std::memcpy(&word, p, sizeof word);
    return word;
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256d gather4_by_16(std::uint64_t word, const double* x) {
    return concatenate(_mm_loadh_pd(_mm_load_sd(x + (word & 0xffff)), x + (word >> 16 & 0xffff)),
                       _mm_loadh_pd(_mm_load_sd(x + (word >> 32 & 0xffff)), x + (word >> 48)));
}
NZ_AVX2 NZ_ALWAYS_INLINE __m128 gather4_by_16(std::uint64_t word, const float* x) {
    const __m128 two = _mm_insert_ps(_mm_load_ss(x + (word & 0xffff)),
                                     _mm_load_ss(x + (word >> 16 & 0xffff)), 0x10);
    const __m128 three = _mm_insert_ps(two, _mm_load_ss(x + (word >> 32 & 0xffff)), 0x20);
    return _mm_insert_ps(three, _mm_load_ss(x + (word >> 48)), 0x30);
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles both(__m256d low, __m256d high) { return {low, high}; }
NZ_AVX2 NZ_ALWAYS_INLINE floats both(__m128 low, __m128 high) {
    return {_mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1)};
}
template <class V>
NZ_AVX2 NZ_ALWAYS_INLINE auto gather8_by_16(std::uint64_t low, std::uint64_t high, const V* x) {
    return both(gather4_by_16(low, x), gather4_by_16(high, x));
}
NZ_AVX2 NZ_ALWAYS_INLINE doubles gather8_by_32(const index* at, const double* x) {
    return {gather4(at, x), gather4(at + 4, x)};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats gather8_by_32(const index* at, const float* x) {
    return {gather8(at, x)};
}

NZ_AVX2 NZ_ALWAYS_INLINE doubles widened(const float* p, double) {
    return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
}
NZ_AVX2 NZ_ALWAYS_INLINE floats widened(const float* p, float) { return load(p); }

/// The values of the entries [k, k + 8).
template <value_encoding C, class V>
NZ_AVX2 NZ_ALWAYS_INLINE auto values(decoder<C, V> value, std::size_t k) {
    if constexpr (C == value_encoding::constant) {
        return spread(value.table[0]);
    } else if constexpr (C == value_encoding::dictionary8) {
        const __m128i bytes = _mm_cvtsi64_si128(std::int64_t(word_at(value.val + k)));
        const __m128i codes = _mm_cvtepu8_epi16(bytes);
        return gather8_by_16(std::uint64_t(_mm_cvtsi128_si64(codes)),
                             std::uint64_t(_mm_extract_epi64(codes, 1)), value.table);
    } else if constexpr (C == value_encoding::dictionary16) {
        return gather8_by_16(word_at(value.val + 2 * k), word_at(value.val + 2 * k + 8),
                             value.table);
    } else if constexpr (C == value_encoding::float32) {
        return widened(reinterpret_cast<const float*>(value.val) + k, V());
    } else {
        return load(reinterpret_cast<const V*>(value.val) + k);
    }
}

// -- one step of eight lanes ---------------------------------------------------------------------

template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint16_t* column, const auto* x, S val) {
    const __m128i columns = _mm_loadu_si128(reinterpret_cast<const __m128i*>(column));
    const __m128i padding = _mm_cmpeq_epi16(columns, _mm_set1_epi16(-1));
    if (_mm_movemask_epi8(padding) == 0)
        return plus(sums, times(val, gather8_by_16(word_at(column), word_at(column + 4), x)));
    const __m128i some = _mm_andnot_si128(padding, columns);
    const S from = gather8_by_16(std::uint64_t(_mm_cvtsi128_si64(some)),
                                 std::uint64_t(_mm_extract_epi64(some, 1)), x);
    const __m256i in = _mm256_cvtepi16_epi32(_mm_xor_si128(padding, _mm_set1_epi16(-1)));
    return plus(sums, keep(times(val, from), in));
}
template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_listed(S sums, const std::uint32_t* column, const auto* x, S val) {
    const __m256i columns = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
    const __m256i padding = _mm256_cmpeq_epi32(columns, _mm256_set1_epi32(-1));
    if (_mm256_movemask_epi8(padding) == 0)
        return plus(sums, times(val, gather8_by_32(reinterpret_cast<const index*>(column), x)));
    alignas(32) std::array<index, simd_lanes> some;
    _mm256_store_si256(reinterpret_cast<__m256i*>(some.data()),
                       _mm256_andnot_si256(padding, columns));
    const __m256i in = _mm256_xor_si256(padding, _mm256_set1_epi32(-1));
    return plus(sums, keep(times(val, gather8_by_32(some.data(), x)), in));
}

/// Those whose bit is set, of eight lanes that lie side by side.
template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_side_by_side(S sums, std::uint32_t bits, const auto* x, S val) {
    if (bits == 0xff) return plus(sums, times(val, load(x)));
    const __m256i in = lanes_of(bits);
    return plus(sums, keep(times(val, load(x, in)), in));
}

// -- all steps of 32 lanes -----------------------------------------------------------------------

template <class V>
NZ_AVX2 void add_constant_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x,
                                    V* sums) {
    auto a = spread(V(0)), b = a, c = a, d = a;
    for (std::uint32_t s = 0; s < width; ++s, word += 4) {
        const V* const xs = x + std::int32_t(word[0]);
        const std::uint32_t in = word[1];
        V v;
        std::memcpy(&v, word + 2, sizeof v);
        const auto val = spread(v);
        a = add_side_by_side(a, in & 0xff, xs, val);
        b = add_side_by_side(b, in >> 8 & 0xff, xs + 8, val);
        c = add_side_by_side(c, in >> 16 & 0xff, xs + 16, val);
        d = add_side_by_side(d, in >> 24, xs + 24, val);
    }
    store(sums, a), store(sums + 8, b), store(sums + 16, c), store(sums + 24, d);
}

template <value_encoding C, class V>
NZ_AVX2 void add_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x, V* sums,
                           decoder<C, V> value, std::size_t at) {
    auto a = spread(V(0)), b = a, c = a, d = a;
    for (std::uint32_t s = 0; s < width; ++s, word += 2, at += 32) {
        const V* const xs = x + std::int32_t(word[0]);
        const std::uint32_t in = word[1];
        a = add_side_by_side(a, in & 0xff, xs, values(value, at));
        b = add_side_by_side(b, in >> 8 & 0xff, xs + 8, values(value, at + 8));
        c = add_side_by_side(c, in >> 16 & 0xff, xs + 16, values(value, at + 16));
        d = add_side_by_side(d, in >> 24, xs + 24, values(value, at + 24));
    }
    store(sums, a), store(sums + 8, b), store(sums + 16, c), store(sums + 24, d);
}

template <bool streaming, class Column, value_encoding C, class V>
NZ_AVX2 void add_list(const Column* column, std::uint32_t width, const V* x, V* sums,
                      decoder<C, V> value, std::size_t at) {
    auto a = spread(V(0)), b = a, c = a, d = a;
    for (std::uint32_t s = 0; s < width; ++s, column += 32, at += 32) {
        if constexpr (streaming) prefetch_entries(column, value, at);
        a = add_listed(a, column, x, values(value, at));
        b = add_listed(b, column + 8, x, values(value, at + 8));
        c = add_listed(c, column + 16, x, values(value, at + 16));
        d = add_listed(d, column + 24, x, values(value, at + 24));
    }
    store(sums, a), store(sums + 8, b), store(sums + 16, c), store(sums + 24, d);
}

template <bool streaming, value_encoding C, class V>
NZ_AVX2 void add_chunk(const packed_chunk& c, const std::uint32_t* code, decoder<C, V> value,
                       std::size_t at, const V* x, V* sums) {
    switch (c.kind) {
        case packed_chunk::constant_diagonals:
            return add_constant_diagonals(code, c.width, x + c.first_row, sums);
        case packed_chunk::diagonals:
            return add_diagonals(code, c.width, x + c.first_row, sums, value, at);
        case packed_chunk::delta16:
            return add_list<streaming>(reinterpret_cast<const std::uint16_t*>(code), c.width,
                                       x + c.base, sums, value, at);
        case packed_chunk::delta32:
            return add_list<streaming>(code, c.width, x + c.base, sums, value, at);
        default:
            return;  // tiles have a loop of their own
    }
}

template <value_encoding C, class V>
std::vector<chunk_loop<C, V>> find_chunk_loops(bool streaming) {
    std::vector<chunk_loop<C, V>> loops;
    if (__builtin_cpu_supports("avx2") != 0)
        loops.push_back(streaming ? add_chunk<true, C, V> : add_chunk<false, C, V>);
    if (has_avx512()) loops.push_back(chunk_loop_of_gathers<C, V>(streaming));
    if (gathers_are_fast()) std::ranges::reverse(loops);
    return loops;
}

}  // namespace
#else
namespace {

template <value_encoding C, class V>
std::vector<chunk_loop<C, V>> find_chunk_loops(bool) {
    return {};
}

}  // namespace
#endif

template <value_encoding C, class V>
std::span<const chunk_loop<C, V>> simd_chunk_loops(bool streaming) {
    static const std::vector<chunk_loop<C, V>> loops[] = {find_chunk_loops<C, V>(false),
                                                          find_chunk_loops<C, V>(true)};
    return loops[streaming ? 1 : 0];
}

#define NZ_INSTANTIATE(V)                                                                         \
    template std::span<const chunk_loop<value_encoding::constant, V>> simd_chunk_loops(bool);     \
    template std::span<const chunk_loop<value_encoding::dictionary8, V>> simd_chunk_loops(bool);  \
    template std::span<const chunk_loop<value_encoding::dictionary16, V>> simd_chunk_loops(bool); \
    template std::span<const chunk_loop<value_encoding::float32, V>> simd_chunk_loops(bool);      \
    template std::span<const chunk_loop<value_encoding::none, V>> simd_chunk_loops(bool);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
