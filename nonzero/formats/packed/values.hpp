// Which values a matrix has, and their shortest exact encoding.
#pragma once

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>
#include <vector>

#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// The most values of a table. A larger one would not fit a GPU's L1, which also holds x. For
/// floats, a dictionary16 would save only two bytes an entry, less than its look-ups cost
/// (docs/decisions/packed.md).
template <class V>
inline constexpr std::size_t most_table_values = sizeof(V) > 4 ? 4096 : 256;

/// The cheapest exact encoding of `distinct` values, with a table of at most `most`. all_float32: a
/// float holds each of them exactly.
template <class V>
constexpr value_encoding encoding_for(std::size_t distinct, bool all_float32,
                                      std::size_t most = most_table_values<V>) {
    if (distinct == 0) return value_encoding::none;
    if (distinct > most)
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
    friend bool operator<(const value_bits& a, const value_bits& b) { return a.words < b.words; }
    friend bool operator==(const value_bits& a, const value_bits& b) {
        bool same = true;  // the default calls memcmp, which takes a third of packing
        for (std::size_t k = 0; k < a.words.size(); ++k) same = same && a.words[k] == b.words[k];
        return same;
    }
};

/// The numbers of values, found by the values' bits: a hash table with open addressing. It grows so
/// that half of it stays empty, and starts small, because most matrices have few values.
template <class V>
class value_numbers {
  public:
    /// Gives v that number unless it has one; whether it had none.
    bool add(const value_bits<V>& v, std::uint16_t number) {
        if (2 * held_ >= keys_.size()) grow();
        const std::size_t at = slot_of(v);
        if (numbers_[at] != 0) return false;
        keys_[at] = v, numbers_[at] = std::uint16_t(number + 1);
        ++held_;
        return true;
    }
    /// The count of leading values that the first slot of their hash tells to have numbers. No
    /// value is compared with the one before it: where few values stand in no order, that branch is
    /// mispredicted half of the time, which takes longer than the look-up.
    [[nodiscard]] std::size_t known(std::span<const V> values) const {
        if (keys_.empty()) return 0;
        const value_bits<V>* const keys = keys_.data();
        const std::uint16_t* const numbers = numbers_.data();
        std::size_t k = 0;
        for (; k < values.size(); ++k) {
            const value_bits<V> v(values[k]);
            const std::size_t at = std::size_t(hash(v) >> shift_);
            if (keys[at] != v || numbers[at] == 0) break;
        }
        return k;
    }
    /// The number of a value that has one.
    [[nodiscard]] std::uint16_t operator[](const value_bits<V>& v) const {
        return std::uint16_t(numbers_[slot_of(v)] - 1);
    }

  private:
    static constexpr std::size_t least_slots = 64;

    [[nodiscard]] static std::uint64_t hash(const value_bits<V>& v) {
        std::uint64_t h = 0;
        for (const std::uint64_t w : v.words) h = (h ^ w) * 0x9e3779b97f4a7c15U;
        return h;
    }
    /// The slot of v: the one that holds it, or the empty one that it would take.
    [[nodiscard]] std::size_t slot_of(const value_bits<V>& v) const {
        std::size_t at = std::size_t(hash(v) >> shift_);
        while (numbers_[at] != 0 && keys_[at] != v) at = (at + 1) & (keys_.size() - 1);
        return at;
    }
    void grow() {
        const value_numbers before = std::move(*this);
        const std::size_t slots = std::max(least_slots, 4 * before.keys_.size());
        keys_.assign(slots, {}), numbers_.assign(slots, 0), held_ = 0;
        shift_ = 64 - int(std::bit_width(slots - 1));
        for (std::size_t k = 0; k < before.keys_.size(); ++k)
            if (before.numbers_[k] != 0)
                add(before.keys_[k], std::uint16_t(before.numbers_[k] - 1));
    }

    std::vector<value_bits<V>> keys_;
    std::vector<std::uint16_t> numbers_;  ///< one more than the number; 0: no value is here
    std::size_t held_ = 0;
    int shift_ = 0;  ///< of a hash, to a slot
};

/// The encoding of a matrix's values, and the table that it needs.
template <class V>
struct value_encoder {
    value_encoding encoding = value_encoding::none;
    std::vector<V> table = {};      ///< ascending by bits; empty for float32 and none
    value_numbers<V> numbers = {};  ///< where a value stands in the table

    /// The cheapest encoding that is exact, with a table of at most `most` values. Computed in
    /// parallel; the same for any thread count.
    static value_encoder of(std::span<const V> values, std::size_t most = most_table_values<V>);

    [[nodiscard]] std::size_t bytes() const {
        return encoded_bytes<V>(encoding);
    }  ///< the bytes of one value
    /// Encodes v by C, which is `encoding`, as the at-th value of `to`.
    template <value_encoding C>
    void put(V v, std::byte* to, std::size_t at) const {
        const auto store = [&](auto code) {
            std::memcpy(to + at * sizeof code, &code, sizeof code);
        };
        if constexpr (C == value_encoding::none) store(v);
        if constexpr (C == value_encoding::float32 && std::is_same_v<V, double>) store(float(v));
        if constexpr (C == value_encoding::dictionary8)
            store(std::uint8_t(numbers[value_bits<V>(v)]));
        if constexpr (C == value_encoding::dictionary16) store(numbers[value_bits<V>(v)]);
    }
};

}  // namespace nz
