// How packed chunks are stored: every constant of the layout, once, for the CPU and the GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// How a packed matrix stores its values. What is multiplied is always the original, bit for bit.
enum class value_encoding : index {
    constant,      ///< one value, stored once
    dictionary8,   ///< an 8-bit index into the table of distinct values
    dictionary16,  ///< a 16-bit index into it
    float32,       ///< a float, where every double of the matrix is one
    none,          ///< the values as they are
};

/// Whether values V are ever stored so: 16-bit indices save floats too little, and only doubles
/// become floats.
template <class V>
constexpr bool may_encode(value_encoding c) {
    if (c == value_encoding::dictionary16) return sizeof(V) > 4;
    return c != value_encoding::float32 || std::is_same_v<V, double>;
}

/// f.operator()<encoding>(): the one switch over the encodings of values V.
template <class V, class F>
void with_encoding(value_encoding encoding, F f) {
    using enum value_encoding;
    const auto call = [&]<value_encoding C>() {
        if constexpr (may_encode<V>(C)) f.template operator()<C>();
    };
    switch (encoding) {
        case constant:
            return call.template operator()<constant>();
        case dictionary8:
            return call.template operator()<dictionary8>();
        case dictionary16:
            return call.template operator()<dictionary16>();
        case float32:
            return call.template operator()<float32>();
        case none:
            return call.template operator()<none>();
    }
}

/// Share of one warp: `width` stored entries for each of 32 lanes. It holds some rows, with
/// 1, 2, 4 .. 32 neighbouring lanes each, or a segment of a long row, or a tile.
struct alignas(32) packed_chunk {
    enum columns : std::uint8_t {
        constant_diagonals,  ///< 32 consecutive rows by diagonals, of one value each
        diagonals,           ///< 32 consecutive rows by diagonals, a stored value an entry
        delta16,             ///< columns as 16-bit distances from `base`
        delta32,             ///< columns as 32-bit distances from `base`
        tile16,              ///< a tile, its columns as in delta16
        tile32,              ///< a tile, its columns as in delta32
    };
    std::uint32_t index_at = 0;  ///< first of its columns or diagonals  [packed_index_unit words]
    std::uint32_t val_at = 0;    ///< first of its values                [packed_value_unit values]
    index first_row = 0;         ///< its row, or the first of its rows
    index base = 0;              ///< the smallest column
    index number = 0;            ///< sorted rows: where they start in perm; a segment: its number
    index segments = 0;          ///< segments of the long row; 0 where it holds whole rows
    std::uint16_t width = 0;     ///< stored entries of each lane
    columns kind = delta16;      ///< how its columns are stored
    std::uint8_t log_lanes = 0;  ///< log2 of the lanes that share a row
    std::uint8_t rows = 0;       ///< 1 to 32, of a tile to 255; 0 if it only fills a GPU block
    bool sorted = false;         ///< its rows are listed in perm
    std::uint8_t identical = 0;  ///< 2 or 4: it and the next ones have the same offsets; else 0
    std::uint8_t unused = 0;     ///< so that no byte is undefined
    friend bool operator==(const packed_chunk&, const packed_chunk&) = default;
};
static_assert(sizeof(packed_chunk) == 32);  // a GPU reads it in two loads

/// Chunks start at multiples of these in `indices` and in `val`.
inline constexpr unsigned packed_index_unit = 16;  ///< words: 64 bytes
inline constexpr unsigned packed_value_unit = 32;  ///< values: one of each lane

/// Padding in a list of columns, and the full mask of a diagonal.
inline constexpr std::uint16_t padding16 = 0xffff;
inline constexpr std::uint32_t padding32 = 0xffffffffU;
inline constexpr std::uint32_t full_mask = 0xffffffffU;
/// The largest distances from a chunk's base.
inline constexpr std::uint32_t max_delta16 = padding16 - 1U;
inline constexpr std::uint32_t max_delta32 = padding32 - 1U;

/// Words of a column of a chunk: offset, mask and value; offset and mask; 32 16-bit distances; 32
/// 32-bit distances; and both again for tiles.
NZ_HOST_DEVICE constexpr unsigned words_a_column(packed_chunk::columns kind) {
    constexpr unsigned words[] = {4, 2, 16, 32, 16, 32};
    return words[kind];
}
NZ_HOST_DEVICE constexpr bool is_tile(packed_chunk::columns kind) {
    return kind >= packed_chunk::tile16;
}

/// Whether columns are 16-bit distances.
NZ_HOST_DEVICE constexpr bool is_narrow(packed_chunk::columns kind) {
    return kind == packed_chunk::delta16 || kind == packed_chunk::tile16;
}

/// A tile holds the entries of consecutive rows, dealt to the lanes in order: lane l has entries
/// l * width to (l + 1) * width - 1, and stores the k-th of them at its k-th place. Behind its
/// columns lie a byte a lane, whose bit k says that the lane's k-th entry is the last of its row,
/// and a bit for every row that has an entry.
inline constexpr index most_tile_entries = 256;
inline constexpr index most_tile_rows = 255;
/// Lanes, as a power of two, of a row among tiles that has more entries than a tile: all.
inline constexpr int lanes_of_long_row = 5;
/// A window of more entries than 16 a row is cut without trying tiles: its lists pad little.
inline constexpr index most_tiled_entries = 16 * 1024;
inline constexpr unsigned tile_ends_words = 8;
inline constexpr unsigned tile_rows_words = 8;

/// Size of a window's rows as lists.
struct list_size {
    std::int64_t width, chunks, sorted_rows;

    /// Whether tiles take less than 1 / gain of the bytes. A stored place counts as a value and a
    /// 32-bit column, whatever it takes.
    [[nodiscard]] NZ_HOST_DEVICE bool takes_more_than(std::int64_t value_bytes,
                                                      std::int64_t tile_width, std::int64_t tiles,
                                                      double gain) const {
        const std::int64_t column = 32 * (4 + value_bytes);
        constexpr std::int64_t header = sizeof(packed_chunk);
        constexpr std::int64_t flags = sizeof(std::uint32_t) * (tile_ends_words + tile_rows_words);
        const std::int64_t lists = width * column + chunks * header + 4 * sorted_rows;
        return double(lists) > gain * double(tile_width * column + tiles * (header + flags));
    }
};

/// Words that a chunk takes in `indices`.
NZ_HOST_DEVICE constexpr unsigned words_of(packed_chunk::columns kind, unsigned width) {
    const unsigned words =
        words_a_column(kind) * width + (is_tile(kind) ? tile_ends_words + tile_rows_words : 0);
    return (words + packed_index_unit - 1) / packed_index_unit * packed_index_unit;
}

/// Rows of a window: rows are sorted within it, and a GPU block packs it.
inline constexpr index packed_window = 1024;
/// Chunks of a GPU block: its warps.
inline constexpr index packed_block = 8;
/// Vectors that a warp multiplies at once, where there are several in column-major order.
inline constexpr int packed_vectors = 8;
/// Vectors in row-major order that a GPU kernel multiplies at once.
inline constexpr int packed_row_vectors = 256;

}  // namespace nz
