// Memory accesses of the warps of packed's spmv/kernels.cuh, and of the headers it includes:
// lanes.cuh, tiles.cuh and identical_offsets.cuh. Left out are fields of a tile that its kernel
// reads a second time, which a compiler may keep in registers, and the sums that blocks of one row
// hand on.
#pragma once

#include <cstddef>

#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/trace.hpp"

namespace nz {

inline constexpr int traced_in_flight = 4;  ///< in_flight of lanes.cuh

/// The layout as the GPU packs it.
template <class V>
packed<V, host> traced_layout(packed_warp, const csr<V, host_view>& A) {
    return packed<V, host>::from(A, packed_options::suited_to(gpu{}, std::int64_t(A.val.size())));
}

template <class V>
std::vector<warp_grid> launches(packed_warp, const packed<V, host_view>& A) {
    const auto chunks = std::int64_t(A.chunks.size());
    if (A.chunks_per_warp == 1) return {grid_of_warps("packed_kernel", chunks, packed_block)};
    return {grid_of_warps("identical_offsets_kernel", (chunks - 1) / A.chunks_per_warp + 1,
                          packed_block)};
}

/// One warp's loads of a packed matrix. Places are those of `val`, one a lane and stored column.
template <class V>
class packed_tracer {
  public:
    packed_tracer(const packed<V, host_view>& A, warp_trace& to)
        : A_(A),
          to_(to),
          streams_((A.tiles > 0 && A.encoding >= value_encoding::float32) ||
                   A.val.size() + 4 * A.indices.size() > streamed_bytes) {
        if (A.encoding == value_encoding::constant) to.broadcast(table(), 0);
    }

    /// multiply_chunk.
    void chunk(std::int64_t number) {
        const packed_chunk& c = A_.chunks[std::size_t(number)];
        header(number);
        const per_lane r = each_lane([&](int l) {
            const int row = l >> c.log_lanes;
            return row < int(c.rows) && row << c.log_lanes == l ? std::int64_t(row) : idle;
        });
        const per_lane row = c.sorted
                                 ? load_each(to_, structure_of("perm"), A_.perm, moved(r, c.number))
                                 : moved(r, c.first_row);
        sum_lane(c);
        to_.store(y_of<V>(), row);
    }

    /// A segment of a long row. Its first warp in a block stores the row, unless other blocks have
    /// segments of it too: then the last block does.
    void segment(std::int64_t number) {
        const packed_chunk& c = A_.chunks[std::size_t(number)];
        header_of_segment(number);
        listed(c);
        field(number, offsetof(packed_chunk, segments));
        if (c.segments > 0) field(number, offsetof(packed_chunk, number));
        const bool first_here = c.number == 0 || number % packed_block == 0;
        const bool last_block = c.number + (packed_block - number % packed_block) >= c.segments;
        if (c.segments == 0 || !first_here || !last_block) return;
        to_.load(structure_of("chunks", 4),
                 first_lane(field_at(number, offsetof(packed_chunk, first_row))));
        to_.store(y_of<V>(), first_lane(c.first_row));
    }

    /// multiply_tile: flags, then every lane's own entries, then the rows.
    void tile(std::int64_t number) {
        const packed_chunk& c = A_.chunks[std::size_t(number)];
        header(number);
        const std::int64_t flags = code(c) + std::int64_t(words_a_column(c.kind)) * c.width;
        to_.load(structure_of("indices", 1), each_lane([&](int l) { return 4 * flags + l; }));
        listed(c);
        for (int first = 0; first < int(c.rows); first += warp_lanes) {
            to_.broadcast(structure_of("indices"), flags + tile_ends_words + first / warp_lanes);
            to_.store(y_of<V>(), each_lane([&](int l) {
                          return first + l < int(c.rows) ? offset(c.first_row) + first + l : idle;
                      }));
        }
    }

    /// identical_offsets_kernel: `count` chunks at once where their offsets are the same.
    void identical(std::int64_t first, int count) {
        const packed_chunk& c = A_.chunks[std::size_t(first)];
        const bool constant = A_.encoding < value_encoding::float32;
        const auto kind = constant ? packed_chunk::constant_diagonals : packed_chunk::diagonals;
        if (c.identical < count || c.kind != kind) {
            const auto last = std::min(first + count, std::int64_t(A_.chunks.size()));
            header(first);  // before it is known that they differ
            for (std::int64_t k = first; k < last; ++k) chunk(k);
            return;
        }
        header(first);
        const int words = int(words_a_column(c.kind)), at_once = count == 4 ? 1 : 2;
        const std::int64_t chunk_words = words_of(c.kind, c.width);
        for (int k = 0; k < int(c.width); k += at_once) {
            for (int u = 0; u < at_once; ++u) {
                to_.broadcast(diagonal(c), code(c) / words + k + u);
                for (int g = 1; g < count; ++g)
                    to_.broadcast(columns_of("indices"),
                                  code(c) + g * chunk_words + words * (k + u) + 1);
            }
            for (int u = 0; !constant && u < at_once && k + u < int(c.width); ++u)
                for (int g = 0; g < count; ++g) value(place(c, g * int(c.width) + k + u));
            for (int u = 0; u < at_once && k + u < int(c.width); ++u)
                for (int g = 0; g < count; ++g)
                    x_on_diagonal(c, code(c) + words * (k + u),
                                  code(c) + g * chunk_words + words * (k + u) + 1, g * warp_lanes);
        }
        for (int g = 0; g < count; ++g)
            to_.store(y_of<V>(),
                      each_lane([&](int l) { return offset(c.first_row) + g * warp_lanes + l; }));
    }

  private:
    [[nodiscard]] traced_array table() const { return structure_of("table", sizeof(V)); }
    /// Both halves of a chunk's header.
    void header(std::int64_t number) {
        to_.broadcast(structure_of("chunks", 16), 2 * number);
        to_.broadcast(structure_of("chunks", 16), 2 * number + 1);
    }
    /// One field of a header, of 4 bytes.
    [[nodiscard]] static std::int64_t field_at(std::int64_t number, std::size_t bytes) {
        constexpr std::int64_t fields = sizeof(packed_chunk) / 4;
        return fields * number + std::int64_t(bytes / 4);
    }
    void field(std::int64_t number, std::size_t bytes) {
        to_.broadcast(structure_of("chunks", 4), field_at(number, bytes));
    }
    /// Loads the fields of its header that a segment needs before the sum. Where they are all of
    /// the first half, this is one load.
    void header_of_segment(std::int64_t number) {
        field(number, offsetof(packed_chunk, width));
        if (A_.encoding != value_encoding::constant)
            return to_.broadcast(structure_of("chunks", 16), 2 * number);
        field(number, offsetof(packed_chunk, index_at));
        field(number, offsetof(packed_chunk, base));
    }
    [[nodiscard]] std::int64_t code(const packed_chunk& c) const {
        return std::int64_t(c.index_at) * packed_index_unit;
    }
    [[nodiscard]] per_lane place(const packed_chunk& c, int column) const {
        const std::int64_t first =
            std::int64_t(c.val_at) * packed_value_unit + std::int64_t(column) * warp_lanes;
        return each_lane([&](int l) { return first + l; });
    }
    [[nodiscard]] static traced_array diagonal(const packed_chunk& c) {
        return {"indices", array_role::columns, int(words_a_column(c.kind)) * 4};
    }

    /// A stored value, and what it stands for in the table.
    void value(const per_lane& at) {
        const auto bytes = [&]() -> int {
            switch (A_.encoding) {
                case value_encoding::constant:
                    return 0;
                case value_encoding::dictionary8:
                    return 1;
                case value_encoding::dictionary16:
                    return 2;
                case value_encoding::float32:
                    return 4;
                case value_encoding::none:
                    break;
            }
            return sizeof(V);
        }();
        if (bytes == 0) return;
        to_.load({"val", array_role::values, bytes, streams_ && bytes > 1}, at);
        if (A_.encoding >= value_encoding::float32) return;
        to_.load(table(), each_lane([&](int lane) -> std::int64_t {
                     const std::int64_t k = at[std::size_t(lane)];
                     if (k == idle) return idle;
                     const std::byte* const val = A_.val.data();
                     if (bytes == 1) return std::int64_t(val[std::size_t(k)]);
                     std::uint16_t number = 0;
                     std::memcpy(&number, val + 2 * std::size_t(k), sizeof number);
                     return number;
                 }));
    }
    /// x of the lanes whose rows have an entry on a diagonal; `words` says where its offset lies,
    /// `mask` where its rows do.
    void x_on_diagonal(const packed_chunk& c, std::int64_t words, std::int64_t mask, int further) {
        const auto column = std::int32_t(A_.indices[std::size_t(words)]);
        const std::uint32_t rows = A_.indices[std::size_t(mask)];
        to_.load(x_of<V>(), each_lane([&](int l) {
                     return (rows >> l & 1) != 0 ? offset(c.first_row) + further + l + column
                                                 : idle;
                 }));
    }

    /// f(first, after the last) for every few columns whose loads are in flight together.
    template <class F>
    static void for_each_step(const packed_chunk& c, F f) {
        for (int k = 0; k < int(c.width); k += traced_in_flight)
            f(k, std::min(k + traced_in_flight, int(c.width)));
    }

    void sum_lane(const packed_chunk& c) {
        if (c.kind >= packed_chunk::delta16) return listed(c);
        const std::int64_t words = words_a_column(c.kind);
        for_each_step(c, [&](int first, int last) {
            for (int k = first; k < last; ++k) to_.broadcast(diagonal(c), code(c) / words + k);
            for (int k = first; c.kind == packed_chunk::diagonals && k < last; ++k)
                value(place(c, k));
            for (int k = first; k < last; ++k)
                x_on_diagonal(c, code(c) + words * k, code(c) + words * k + 1, 0);
        });
    }

    /// sum_listed, and sum_tile: where the matrix bypasses L1, values only of entries.
    void listed(const packed_chunk& c) {
        const traced_array columns{"indices", array_role::columns, is_narrow(c.kind) ? 2 : 4,
                                   streams_};
        const std::int64_t start = code(c) * (is_narrow(c.kind) ? 2 : 1);
        const auto column_at = [&](int k) {
            return each_lane([&](int l) { return start + std::int64_t(k) * warp_lanes + l; });
        };
        for_each_step(c, [&](int first, int last) {
            for (int k = first; k < last; ++k) to_.load(columns, column_at(k));
            for (int k = first; !streams_ && k < last; ++k) value(place(c, k));
            for (int k = first; k < last; ++k) {
                const per_lane x = each_lane(
                    [&](int l) { return distance(c, start + std::int64_t(k) * warp_lanes + l); });
                to_.load(x_of<V>(), moved(x, c.base));
                if (!streams_) continue;
                const per_lane at = place(c, k);
                value(each_lane(
                    [&](int l) { return x[std::size_t(l)] == idle ? idle : at[std::size_t(l)]; }));
            }
        });
    }
    /// From the chunk's base; idle for padding.
    [[nodiscard]] std::int64_t distance(const packed_chunk& c, std::int64_t at) const {
        if (!is_narrow(c.kind)) {
            const std::uint32_t d = A_.indices[std::size_t(at)];
            return d == padding32 ? idle : std::int64_t(d);
        }
        const std::uint32_t word = A_.indices[std::size_t(at / 2)];
        const auto d = std::uint16_t(at % 2 == 0 ? word : word >> 16);
        return d == padding16 ? idle : std::int64_t(d);
    }

    const packed<V, host_view>& A_;
    warp_trace& to_;
    bool streams_;
};

/// A warp has a chunk: of whole rows, a tile, or a segment of a long row; or two or four chunks.
template <class V>
void trace(packed_warp, const packed<V, host_view>& A, std::int64_t warp, warp_trace& to) {
    const std::int64_t first = warp * A.chunks_per_warp;
    if (first >= std::int64_t(A.chunks.size())) return;
    packed_tracer<V> of_warp(A, to);
    const packed_chunk& c = A.chunks[std::size_t(first)];
    if (A.chunks_per_warp > 1) return of_warp.identical(first, int(A.chunks_per_warp));
    if (first < A.segment_chunks) return of_warp.segment(first);
    if (is_tile(c.kind)) return of_warp.tile(first);
    of_warp.chunk(first);
}

}  // namespace nz
