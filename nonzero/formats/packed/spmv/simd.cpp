#include "nonzero/formats/packed/spmv/simd.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "nonzero/formats/simd/vectors.hpp"

namespace nz {
#if defined(NZ_LANES)
namespace {

using namespace lanes;

/// The values of the entries [k, k + 8).
template <value_encoding C, class V>
NZ_LANES NZ_ALWAYS_INLINE auto values(decoder<C, V> value, std::size_t k) {
    if constexpr (C == value_encoding::constant) {
        return spread(value.table[0]);
    } else if constexpr (C == value_encoding::dictionary8) {
        return gather8(word_at(value.val + k), value.table);
    } else if constexpr (C == value_encoding::dictionary16) {
        return gather8(word_at(value.val + 2 * k), word_at(value.val + 2 * k + 8), value.table);
    } else if constexpr (C == value_encoding::float32) {
        return widened(reinterpret_cast<const float*>(value.val) + k, V());
    } else {
        return load(reinterpret_cast<const V*>(value.val) + k);
    }
}

// -- all steps of 32 lanes -----------------------------------------------------------------------

template <class V>
NZ_LANES void add_constant_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x,
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
NZ_LANES void add_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x, V* sums,
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
NZ_LANES void add_list(const Column* column, std::uint32_t width, const V* x, V* sums,
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
NZ_LANES void add_chunk(const packed<V, host_view>& A, const packed_chunk& c, const V* x, V* sums) {
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
#if defined(NZ_LANES)
    if (has_lanes())
        with_encoding<V>(encoding, [&]<value_encoding C>() {
            loops.push_back(streaming ? add_chunk<true, C, V> : add_chunk<false, C, V>);
        });
#endif
#if defined(NZ_AVX512)
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
