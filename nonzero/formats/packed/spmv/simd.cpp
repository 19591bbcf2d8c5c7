#include "nonzero/formats/packed/spmv/simd.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "nonzero/formats/simd/vectors.hpp"

namespace nz {
#if defined(NZ_AVX2)
namespace {

using namespace avx2;

NZ_AVX2 NZ_ALWAYS_INLINE doubles widened(const float* p, double) {
    return {_mm256_cvtps_pd(_mm_loadu_ps(p)), _mm256_cvtps_pd(_mm_loadu_ps(p + 4))};
}
NZ_AVX2 NZ_ALWAYS_INLINE __m256 widened(const float* p, float) { return load(p); }

/// The values of the entries [k, k + 8).
template <value_encoding C, class V>
NZ_AVX2 NZ_ALWAYS_INLINE auto values(decoder<C, V> value, std::size_t k) {
    if constexpr (C == value_encoding::constant) {
        return spread(value.table[0]);
    } else if constexpr (C == value_encoding::dictionary8) {
        const __m128i bytes = _mm_cvtsi64_si128(std::int64_t(word_at(value.val + k)));
        const __m128i codes = _mm_cvtepu8_epi16(bytes);
        return gather8(std::uint64_t(_mm_cvtsi128_si64(codes)),
                       std::uint64_t(_mm_extract_epi64(codes, 1)), value.table);
    } else if constexpr (C == value_encoding::dictionary16) {
        return gather8(word_at(value.val + 2 * k), word_at(value.val + 2 * k + 8), value.table);
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

/// Those whose bit is set, of eight lanes that lie side by side.
template <class S>
NZ_AVX2 NZ_ALWAYS_INLINE S add_side_by_side(S sums, std::uint32_t bits, const auto* x, S val) {
    if (bits == 0xff) return sums + val * load(x);
    const __m256i in = lanes_of(bits);
    return sums + keep(val * load(x, in), in);
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
NZ_AVX2 void add_chunk(const packed<V, host_view>& A, const packed_chunk& c, const V* x, V* sums) {
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    const decoder<C, V> value{A.val.data(), A.table.data()};
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

}  // namespace
#endif
namespace {

template <class V>
std::vector<chunk_loop<V>> find_chunk_loops([[maybe_unused]] value_encoding encoding,
                                            [[maybe_unused]] bool streaming) {
    std::vector<chunk_loop<V>> loops;
#if defined(NZ_AVX512)
    if (has_avx2())
        with_encoding<V>(encoding, [&]<value_encoding C>() {
            loops.push_back(streaming ? add_chunk<true, C, V> : add_chunk<false, C, V>);
        });
    if (has_avx512()) loops.push_back(chunk_loop_of_gathers<V>(encoding, streaming));
    if (gathers_are_fast()) std::ranges::reverse(loops);
#endif
    return loops;
}

}  // namespace

template <class V>
std::span<const chunk_loop<V>> simd_chunk_loops(value_encoding encoding, bool streaming) {
    static const auto all = [] {
        std::array<std::array<std::vector<chunk_loop<V>>, 2>, 5> found;
        for (index c = 0; c < index(found.size()); ++c)
            for (const bool streams : {false, true})
                if (may_encode<V>(value_encoding(c)))
                    found[std::size_t(c)][streams] =
                        find_chunk_loops<V>(value_encoding(c), streams);
        return found;
    }();
    return all[std::size_t(encoding)][streaming];
}

template std::span<const chunk_loop<float>> simd_chunk_loops(value_encoding, bool);
template std::span<const chunk_loop<double>> simd_chunk_loops(value_encoding, bool);

}  // namespace nz
