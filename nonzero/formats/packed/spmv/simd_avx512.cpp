#include <algorithm>

#include "nonzero/formats/packed/spmv/simd.hpp"
#include "nonzero/formats/simd/vectors.hpp"

// The loop over the entries of a packed chunk by gathers and under masks: no step asks whether a
// lane is missing.

namespace nz {
#if defined(NZ_AVX512)
namespace {

using namespace avx512;

NZ_AVX512 NZ_ALWAYS_INLINE __m512d widened(const float* p, double) {
    return _mm512_cvtps_pd(_mm256_loadu_ps(p));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 widened(const float* p, float) { return load(p, every_lane); }

/// The values of the entries [k, k + 8).
template <value_encoding C, class V>
NZ_AVX512 NZ_ALWAYS_INLINE auto values(decoder<C, V> value, std::size_t k) {
    if constexpr (C == value_encoding::constant) {
        return spread(value.table[0]);
    } else if constexpr (C == value_encoding::dictionary8) {
        const auto* const codes = reinterpret_cast<const std::uint8_t*>(value.val);
        return gathered(value.table, numbers(codes + k), every_lane);
    } else if constexpr (C == value_encoding::dictionary16) {
        const auto* const codes = reinterpret_cast<const std::uint16_t*>(value.val);
        return gathered(value.table, numbers(codes + k), every_lane);
    } else if constexpr (C == value_encoding::float32) {
        return widened(reinterpret_cast<const float*>(value.val) + k, V());
    } else {
        return load(reinterpret_cast<const V*>(value.val) + k, every_lane);
    }
}

/// A dictionary of at most 8 `registers` values in registers: permutations look it up, and the
/// loads that a gather would take are left to x.
template <int registers, class V>
struct held_dictionary : decoder<value_encoding::dictionary8, V> {
    decltype(spread(V())) part[registers];
};
template <int registers, class V>
NZ_AVX512 NZ_ALWAYS_INLINE held_dictionary<registers, V> held(
    decoder<value_encoding::dictionary8, V> value, std::size_t size) {
    held_dictionary<registers, V> all{value, {}};
    NZ_UNROLL
    for (int p = 0; p < registers; ++p) {
        const auto before = std::min(size, std::size_t(p * simd_lanes));
        const auto left = std::min<std::size_t>(size - before, simd_lanes);
        all.part[p] = load(value.table + before, __mmask8((1U << left) - 1));
    }
    return all;
}

NZ_AVX512 NZ_ALWAYS_INLINE __m512i codes(const std::byte* p, double) {
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256i codes(const std::byte* p, float) {
    return numbers(reinterpret_cast<const std::uint8_t*>(p));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512d element(__m512i at, __m512d a) {
    return _mm512_permutexvar_pd(at, a);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 element(__m256i at, __m256 a) {
    return _mm256_permutexvar_ps(at, a);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512d element(__m512i at, __m512d a, __m512d b) {
    return _mm512_permutex2var_pd(a, at, b);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 element(__m256i at, __m256 a, __m256 b) {
    return _mm256_permutex2var_ps(a, at, b);
}
NZ_AVX512 NZ_ALWAYS_INLINE __m512d element(__m512i at, __m512d a, __m512d b, __m512d c, __m512d d) {
    const __mmask8 in_behind = _mm512_test_epi64_mask(at, _mm512_set1_epi64(2 * simd_lanes));
    return _mm512_mask_blend_pd(in_behind, element(at, a, b), element(at, c, d));
}
NZ_AVX512 NZ_ALWAYS_INLINE __m256 element(__m256i at, __m256 a, __m256 b, __m256 c, __m256 d) {
    const __mmask8 in_behind = _mm256_test_epi32_mask(at, _mm256_set1_epi32(2 * simd_lanes));
    return _mm256_mask_blend_ps(in_behind, element(at, a, b), element(at, c, d));
}

/// The values of the entries [k, k + 8).
template <int registers, class V>
NZ_AVX512 NZ_ALWAYS_INLINE auto values(const held_dictionary<registers, V>& value, std::size_t k) {
    const auto at = codes(value.val + k, V());
    const auto& p = value.part;
    if constexpr (registers == 1) return element(at, p[0]);
    if constexpr (registers == 2) return element(at, p[0], p[1]);
    if constexpr (registers == 4) return element(at, p[0], p[1], p[2], p[3]);
}

constexpr int parts = 4;  // of eight lanes

/// The sums of a chunk's 32 lanes.
template <class V>
struct chunk_sums {
    decltype(spread(V())) of_part[parts];
};
template <class V>
NZ_AVX512 NZ_ALWAYS_INLINE chunk_sums<V> no_sums() {
    chunk_sums<V> s;
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) s.of_part[p] = spread(V(0));
    return s;
}
template <class V>
NZ_AVX512 NZ_ALWAYS_INLINE void store_sums(const chunk_sums<V>& s, V* sums) {
    NZ_UNROLL
    for (int p = 0; p < parts; ++p) store(sums + p * simd_lanes, s.of_part[p]);
}

template <class V>
NZ_AVX512 void add_constant_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x,
                                      V* sums) {
    auto s = no_sums<V>();
    for (; width > 0; --width, word += 4) {
        const V* const xs = x + std::int32_t(word[0]);
        V v;
        std::memcpy(&v, word + 2, sizeof v);
        NZ_UNROLL
        for (int p = 0; p < parts; ++p) {
            const auto in = __mmask8(word[1] >> p * simd_lanes);
            s.of_part[p] = added(s.of_part[p], in, spread(v) * load(xs + p * simd_lanes, in));
        }
    }
    store_sums(s, sums);
}

template <class D, class V>
NZ_AVX512 void add_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x, V* sums,
                             const D& value, std::size_t at) {
    auto s = no_sums<V>();
    for (; width > 0; --width, word += 2, at += 32) {
        const V* const xs = x + std::int32_t(word[0]);
        NZ_UNROLL
        for (int p = 0; p < parts; ++p) {
            const auto in = __mmask8(word[1] >> p * simd_lanes);
            const auto val = values(value, at + std::size_t(p * simd_lanes));
            s.of_part[p] = added(s.of_part[p], in, val * load(xs + p * simd_lanes, in));
        }
    }
    store_sums(s, sums);
}

template <bool streaming, class Column, class D, class V>
NZ_AVX512 void add_list(const Column* column, std::uint32_t width, const V* x, V* sums,
                        const D& value, std::size_t at) {
    const __m256i padding = _mm256_set1_epi32(int(Column(-1)));
    auto s = no_sums<V>();
    for (; width > 0; --width, column += 32, at += 32) {
        if constexpr (streaming) prefetch_entries(column, value, at);
        NZ_UNROLL
        for (int p = 0; p < parts; ++p) {
            const __m256i columns = numbers(column + p * simd_lanes);
            const __mmask8 in = _mm256_cmpneq_epi32_mask(columns, padding);
            const auto val = values(value, at + std::size_t(p * simd_lanes));
            s.of_part[p] = added(s.of_part[p], in, val * gathered(x, columns, in));
        }
    }
    store_sums(s, sums);
}

template <bool streaming, class D, class V>
NZ_AVX512 void add_entries(const packed_chunk& c, const std::uint32_t* code, const V* x, V* sums,
                           const D& value) {
    const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    switch (c.kind) {
        case packed_chunk::diagonals:
            return add_diagonals(code, c.width, x + c.first_row, sums, value, at);
        case packed_chunk::delta16:
            return add_list<streaming>(reinterpret_cast<const std::uint16_t*>(code), c.width,
                                       x + c.base, sums, value, at);
        case packed_chunk::delta32:
            return add_list<streaming>(code, c.width, x + c.base, sums, value, at);
        default:
            return;  // constant diagonals store no values, tiles have a loop of their own
    }
}

template <bool streaming, value_encoding C, class V>
NZ_AVX512 void add_chunk(const packed<V, host_view>& A, const packed_chunk& c, const V* x,
                         V* sums) {
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    if (c.kind == packed_chunk::constant_diagonals)
        return add_constant_diagonals(code, c.width, x + c.first_row, sums);
    const decoder<C, V> value{A.val.data(), A.table.data()};
    if constexpr (C == value_encoding::dictionary8) {
        const std::size_t size = A.table.size();
        if (size <= simd_lanes)
            return add_entries<streaming>(c, code, x, sums, held<1>(value, size));
        if (size <= 2 * simd_lanes)
            return add_entries<streaming>(c, code, x, sums, held<2>(value, size));
        if (size <= 4 * simd_lanes)
            return add_entries<streaming>(c, code, x, sums, held<4>(value, size));
    }
    add_entries<streaming>(c, code, x, sums, value);
}

}  // namespace

template <class V>
chunk_loop<V> chunk_loop_of_gathers(value_encoding encoding, bool streaming) {
    chunk_loop<V> loop = nullptr;
    with_encoding<V>(encoding, [&]<value_encoding C>() {
        loop = streaming ? add_chunk<true, C, V> : add_chunk<false, C, V>;
    });
    return loop;
}

template chunk_loop<float> chunk_loop_of_gathers(value_encoding, bool);
template chunk_loop<double> chunk_loop_of_gathers(value_encoding, bool);
#endif

}  // namespace nz
