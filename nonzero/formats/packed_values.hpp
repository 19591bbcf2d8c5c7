// Which values a matrix has, and the shortest codes for them.
#pragma once

#include <bit>
#include <cstring>
#include <vector>

#include "nonzero/formats/packed.hpp"

namespace nz {

/// A table of more values would miss the GPU's first-level cache, beside all else that is there.
inline constexpr std::size_t most_table_values = 4096;

/// The bits of a value: what tells values apart. -0 is not 0, and every NaN is itself.
template <class V>
struct value_bits {
    std::array<std::uint64_t, (sizeof(V) + 7) / 8> words{};
    value_bits() = default;
    explicit value_bits(V v) { std::memcpy(words.data(), &v, sizeof(V)); }
    friend auto operator<=>(const value_bits&, const value_bits&) = default;
};

/// The coding for a matrix's values, and the code of each.
template <class V>
struct value_coder {
    value_coding coding = value_coding::plain;
    std::vector<V> table = {};  ///< ascending by bits; empty for narrow and plain

    /// The cheapest coding that is exact. Computed in parallel; the same for any thread count.
    static value_coder of(std::span<const V> values);

    [[nodiscard]] std::size_t bytes() const;  ///< of one code
    /// Stores the code of v as the at-th of `to`.
    void put(V v, std::byte* to, std::size_t at) const;
};

}  // namespace nz
