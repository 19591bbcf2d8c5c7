// Reads packed chunks on the CPU for plain loops, some places at a time: columns as numbers from a
// base, values decoded.
#pragma once

#include <array>
#include <utility>

#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

/// Room for what is read, with the decoder of a matrix's values. Every thread has its own.
template <class V>
class chunk_reader {
  public:
    explicit chunk_reader(const packed<V, host_view>& A) : A_(A) {
        with_encoding<V>(A.encoding,
                         [&]<value_encoding C>() { decode_ = &chunk_reader::decode<C>; });
    }

    /// n <= 32 * steps_at_once values from the place `at` on: as they lie, or decoded.
    const V* values(std::size_t at, std::size_t n) { return (this->*decode_)(at, n); }

    /// f(panel) for some steps after the other of a chunk of lists; its columns count from c.base.
    template <class F>
    void for_each_panel(const packed_chunk& c, F f) {
        const std::uint32_t* const code =
            A_.indices.data() + std::size_t(c.index_at) * packed_index_unit;
        if (is_narrow(c.kind)) {
            read_list(reinterpret_cast<const std::uint16_t*>(code), c, f);
        } else {
            read_list(code, c, f);
        }
    }

  private:
    static constexpr std::size_t steps_at_once = 16;  ///< 6 KB of L1
    static constexpr std::size_t places = 32 * steps_at_once;

    template <value_encoding C>
    const V* decode(std::size_t at, std::size_t n) {
        const decoder<C, V> value{A_.val.data(), A_.table.data()};
        if constexpr (C == value_encoding::none) {
            return reinterpret_cast<const V*>(value.val) + at;
        } else if constexpr (C == value_encoding::constant) {
            if (!std::exchange(filled_, true)) val_.fill(value[at]);
        } else {
            for (std::size_t k = 0; k < n; ++k) val_[k] = value[at + k];
        }
        return val_.data();
    }

    template <class Column, class F>
    void read_list(const Column* column, const packed_chunk& c, F f) {
        std::size_t at = std::size_t(c.val_at) * packed_value_unit;
        for (std::size_t s = 0; s < c.width; s += steps_at_once, column += places, at += places) {
            const std::size_t taken = std::min(steps_at_once, c.width - s);
            for (std::size_t k = 0; k < 32 * taken; ++k)
                col_ind_[k] = column[k] == Column(-1) ? index(-1) : index(column[k]);
            f(panel<V>{col_ind_.data(), values(at, 32 * taken), 32, 32, std::int64_t(taken)});
        }
    }

    const packed<V, host_view>& A_;
    const V* (chunk_reader::*decode_)(std::size_t, std::size_t) = nullptr;
    bool filled_ = false;  ///< with the one value of the matrix
    std::array<index, places> col_ind_;
    std::array<V, places> val_;
};

}  // namespace nz
