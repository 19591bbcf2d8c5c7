// Fills the arrays of chunks that are cut, on the CPU. fill.cuh does the same on a GPU.
#pragma once

#include "nonzero/formats/packed/build/cut.hpp"

namespace nz {

/// Fills the places that a chunk has in the streams.
template <class V>
class chunk_encoder {
  public:
    chunk_encoder(const csr<V, host_view>& matrix, const chunk_partitioner<V>& cutting,
                  const value_encoder<V>& coder, packed<V, host>& to)
        : A(matrix), cut(cutting), values(coder), P(to) {}

    void fill(const packed_chunk& c) const {
        with_encoding<V>(values.encoding, [&]<value_encoding C>() { fill_by<C>(c); });
    }

  private:
    template <value_encoding C>
    void fill_by(const packed_chunk& c) const {
        if (c.kind <= packed_chunk::diagonals) return fill_diagonals<C>(c);
        if constexpr (decoder<C, V>::may_tile)
            if (is_tile(c.kind)) return fill_tile<C>(c);
        lane_entries lanes;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const std::uint32_t r = lane >> c.log_lanes;
            if (r >= c.rows) break;  // the other lanes have none
            const index i = c.sorted ? P.perm[std::size_t(c.number) + r] : c.first_row + index(r);
            const range of_row = c.segments > 0 ? share(cut.length(i), c.segments, c.number)
                                                : range{0, cut.length(i)};
            const std::uint32_t among = lane & ((1U << c.log_lanes) - 1);
            lanes.set(lane, cut.begin(i) + of_row.first + among, cut.begin(i) + of_row.last,
                      c.log_lanes);
        }
        fill_lanes<C>(c, lanes);
    }

    /// Which entries the lanes of a chunk store: `stored` of them from `first` on, a step apart.
    struct lane_entries {
        std::array<offset, 32> first{};
        std::array<std::uint32_t, 32> stored{};
        void set(std::uint32_t lane, offset begin, offset end, unsigned log_step) {
            first[lane] = begin;
            if (begin < end) stored[lane] = std::uint32_t((end - begin - 1) >> log_step) + 1;
        }
    };
    template <value_encoding C>
    void fill_diagonals(const packed_chunk& c) const {
        bool same = false;
        const index last = c.first_row + index(c.rows);
        std::uint32_t* word = P.indices.data() + std::size_t(c.index_at) * packed_index_unit;
        std::size_t at = std::size_t(c.val_at) * packed_value_unit;
        std::array<offset, warp_rows> next{};
        for (index i = c.first_row; i < last; ++i)
            next[std::size_t(i - c.first_row)] = cut.begin(i);
        for (const diagonal<V>& d : cut.diagonals(c.first_row, last, same)) {
            *word++ = std::uint32_t(d.offset), *word++ = d.mask;
            if (c.kind == packed_chunk::constant_diagonals) {
                std::memcpy(word, &d.value, std::min<std::size_t>(sizeof(V), 8));
                word += 2;
                continue;
            }
            for (std::size_t r = 0; r < std::size_t(warp_rows); ++r)
                if ((d.mask >> r & 1) != 0)
                    values.template put<C>(A.val[std::size_t(next[r]++)], P.val.data(), at + r);
            at += packed_value_unit;
        }
    }
    template <value_encoding C>
    void fill_tile(const packed_chunk& c) const {
        const offset first = cut.begin(c.first_row), last = cut.begin(c.first_row + index(c.rows));
        std::uint32_t* const ends = P.indices.data() + std::size_t(c.index_at) * packed_index_unit +
                                    words_a_column(c.kind) * c.width;
        lane_entries lanes;
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const offset begin = std::min(last, first + offset(lane * c.width));
            lanes.set(lane, begin, std::min(last, begin + c.width), 0);
        }
        fill_lanes<C>(c, lanes);
        for (index r = 0; r < index(c.rows); ++r) {
            const index i = c.first_row + r;
            if (cut.length(i) == 0) continue;
            const auto e = std::uint32_t(cut.begin(i + 1) - 1 - first);
            const std::uint32_t lane = e / c.width;
            ends[lane / 4] |= 1U << (8 * (lane % 4) + e % c.width);
            ends[tile_ends_words + std::uint32_t(r) / 32] |= 1U << (r % 32);
        }
    }
    template <value_encoding C>
    void fill_lanes(const packed_chunk& c, const lane_entries& lanes) const {
        auto* const code = P.indices.data() + std::size_t(c.index_at) * packed_index_unit;
        if (is_narrow(c.kind)) {
            fill_lanes<C>(c, lanes, reinterpret_cast<std::uint16_t*>(code));
        } else {
            fill_lanes<C>(c, lanes, code);
        }
    }
    /// Place after place, as they lie in memory; padding where a lane has no more entries.
    template <value_encoding C, class Column>
    void fill_lanes(const packed_chunk& c, const lane_entries& lanes, Column* column) const {
        // In variables of their own: bytes are stored, which might be part of anything else.
        const index* const col_ind = A.col_ind.data();
        const V* const val = A.val.data();
        std::byte* const to = P.val.data();
        const std::uint32_t width = c.width, log_step = is_tile(c.kind) ? 0 : c.log_lanes;
        const index base = c.base;
        std::size_t at = std::size_t(c.val_at) * packed_value_unit;
        for (std::uint32_t s = 0; s < width; ++s)
            for (std::uint32_t lane = 0; lane < 32; ++lane, ++at, ++column) {
                if (s >= lanes.stored[lane]) {
                    *column = Column(-1);
                    continue;
                }
                const offset k = lanes.first[lane] + (offset(s) << log_step);
                *column = Column(col_ind[k] - base);
                values.template put<C>(val[k], to, at);
            }
    }

    const csr<V, host_view>& A;
    const chunk_partitioner<V>& cut;
    const value_encoder<V>& values;
    packed<V, host>& P;
};

}  // namespace nz
