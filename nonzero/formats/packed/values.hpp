// Which values a matrix has, and their shortest exact encoding.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// The most values of a table. A larger one would not fit a GPU's L1, which also holds x. For
/// floats, a dictionary16 would save only two bytes an entry, less than its look-ups cost
/// (docs/decisions/packed.md).
template <class V>
inline constexpr std::size_t most_table_values = sizeof(V) > 4 ? 4096 : 256;

/// The cheapest exact encoding of `distinct` values. all_float32: a float holds each of them
/// exactly.
template <class V>
constexpr value_encoding encoding_for(std::size_t distinct, bool all_float32) {
    if (distinct == 0) return value_encoding::none;
    if (distinct > most_table_values<V>)
        return std::is_same_v<V, double> && all_float32 ? value_encoding::float32
                                                        : value_encoding::none;
    if (distinct > 256) return value_encoding::dictionary16;
    return distinct > 1 ? value_encoding::dictionary8 : value_encoding::constant;
}

/// Bytes of one encoded value.
template <class V>
constexpr std::size_t encoded_bytes(value_encoding c) {
    switch (c) {
        case value_encoding::constant:
            return 0;
        case value_encoding::dictionary8:
            return 1;
        case value_encoding::dictionary16:
            return 2;
        case value_encoding::float32:
            return sizeof(float);
        case value_encoding::none:
            break;
    }
    return sizeof(V);
}

/// The bits of a value: what tells values apart. -0 is not 0, and every NaN is itself.
template <class V>
struct value_bits {
    std::array<std::uint64_t, (sizeof(V) + 7) / 8> words{};
    value_bits() = default;
    explicit value_bits(V v) { std::memcpy(words.data(), &v, sizeof(V)); }
    friend auto operator<=>(const value_bits&, const value_bits&) = default;
};

/// The encoding of a matrix's values, and the table that it needs.
template <class V>
struct value_encoder {
    value_encoding encoding = value_encoding::none;
    std::vector<V> table = {};  ///< ascending by bits; empty for float32 and none

    /// The cheapest encoding that is exact. Computed in parallel; the same for any thread count.
    static value_encoder of(std::span<const V> values);

    [[nodiscard]] std::size_t bytes() const {
        return encoded_bytes<V>(encoding);
    }  ///< the bytes of one value
    /// Encodes v as the at-th value of `to`.
    void put(V v, std::byte* to, std::size_t at) const;
};

}  // namespace nz
