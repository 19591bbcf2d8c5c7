// The cells of a packed matrix, which encodes its columns and values: what stands in each, and
// which of them an entry needs.
#pragma once

#include <cstring>

#include "cli/explorer/drawing.hpp"
#include "cli/explorer/places.hpp"

namespace nz::cli {

/// Where an entry lies: the number of its chunk, and its place among the values, -1 where its
/// diagonal has one value for all.
struct packed_entry {
    index row, col;
    std::int64_t chunk, place;
};

/// In place of a decoder: the place of a value.
struct place_itself {
    static constexpr bool may_tile = true;
    double operator[](std::size_t at) const { return double(at); }
};

/// All entries, by rows: an entry's number is that in the CSR.
template <class V>
std::vector<packed_entry> entries_of(const packed<V, host_view>& A) {
    std::vector<packed_entry> all;
    for (std::size_t k = 0; k < A.chunks.size(); ++k) {
        const packed_chunk& c = A.chunks[k];
        const bool has_places = c.kind != packed_chunk::constant_diagonals;
        for_each_of_chunk(A, c, place_itself{}, [&](index i, index j, const auto& place) {
            all.push_back({i, j, std::int64_t(k), has_places ? std::int64_t(std::abs(place)) : -1});
        });
    }
    std::sort(all.begin(), all.end(), [](const packed_entry& a, const packed_entry& b) {
        return std::pair(a.row, a.col) < std::pair(b.row, b.col);
    });
    return all;
}

inline std::string chunk_text(const packed_chunk& c) {
    constexpr std::string_view kinds[] = {"constant diagonals", "diagonals",    "16-bit columns",
                                          "32-bit columns",     "tile, 16-bit", "tile, 32-bit"};
    const std::string from =
        c.kind <= packed_chunk::diagonals ? "" : fmt::format(", columns from {}", c.base);
    return fmt::format("{}: {} rows from {}, width {}{}", kinds[c.kind], c.rows, c.first_row,
                       c.width, from);
}

/// The words of a chunk: of a diagonal its offset, its mask and, where it has one, its value; of a
/// list its columns less the smallest, two to a word where they are narrow. "*" is padding.
template <class V>
void draw_words(const packed<V, host_view>& A, const packed_chunk& c,
                std::vector<std::string>& cells) {
    const std::size_t first = std::size_t(c.index_at) * packed_index_unit;
    for (std::size_t k = 0; k < std::size_t(words_a_column(c.kind)) * c.width; ++k) {
        const std::uint32_t word = A.indices[first + k];
        std::string& cell = cells[first + k];
        if (c.kind <= packed_chunk::diagonals) {
            const std::size_t part = k % words_a_column(c.kind);
            double value = 0;
            if (part == 2) std::memcpy(&value, &A.indices[first + k], sizeof value);
            cell = part == 0   ? text(std::int32_t(word))
                   : part == 1 ? text(word).substr(0, c.rows)
                   : part == 2 ? fmt::format("{:.4g}", value)
                               : "...";  // the value's other half
        } else if (is_narrow(c.kind)) {
            const auto distance = [](std::uint32_t d) {
                return d == padding16 ? "*" : std::to_string(d);
            };
            if (word != padding32) cell = distance(word & padding16) + "|" + distance(word >> 16U);
        } else if (word != padding32) {
            cell = std::to_string(word);
        }
    }
}

/// The number in the table of the value at that place.
template <class T, class V>
std::int64_t number_at(const packed<V, host_view>& A, std::int64_t place) {
    T number = 0;
    std::memcpy(&number, A.val.data() + std::size_t(place) * sizeof(T), sizeof(T));
    return number;
}

/// The numbers in the table, of type T, that stand for the values: a small matrix has few enough.
template <class T, class V>
drawing draw_values(const packed<V, host_view>& A) {
    drawing d{.name = "val", .cells = {}};
    d.element_bytes = int(sizeof(T));
    const std::size_t stored = A.val.size() / sizeof(T);
    d.cells.assign(stored, "*"), d.entries.assign(stored, no_entry);
    int number = 0;
    for (const packed_entry& e : entries_of(A)) {
        if (e.place >= 0 && e.place < std::int64_t(stored)) {
            const auto at = std::size_t(e.place);
            d.cells[at] = std::to_string(number_at<T>(A, e.place)), d.entries[at] = number;
        }
        ++number;
    }
    return d;
}

template <class V>
std::vector<drawing> drawings_of(const packed<V, host_view>& A, const packed<V, host_view>&) {
    std::vector<drawing> all;
    const auto draw = [&](const char* name, const auto& array, auto cell_text) {
        drawing d{.name = name, .cells = {}};
        d.element_bytes = int(sizeof(array[0]));
        for (const auto& element : array) d.cells.push_back(cell_text(element));
        all.push_back(std::move(d));
    };
    const auto plain = [](const auto& element) { return text(element); };
    draw("chunks", A.chunks, chunk_text);
    draw("perm", A.perm, plain);
    draw("indices", A.indices, [](std::uint32_t) { return "*"; });
    for (const packed_chunk& c : A.chunks) draw_words(A, c, all.back().cells);
    all.push_back(A.encoding == value_encoding::dictionary16 ? draw_values<std::uint16_t>(A)
                                                             : draw_values<std::uint8_t>(A));
    draw("table", A.table, plain);
    return all;
}

/// The entry's chunk, its row where rows are sorted, the words of its column or diagonal, and its
/// value in the table.
template <class V>
places places_of(const packed<V, host_view>& A, index i, index j, std::int64_t) {
    const auto all_entries = entries_of(A);
    const auto e =
        std::find_if(all_entries.begin(), all_entries.end(),
                     [&](const packed_entry& other) { return other.row == i && other.col == j; });
    const packed_chunk& c = A.chunks[std::size_t(e->chunk)];
    const std::int64_t first = std::int64_t(c.index_at) * packed_index_unit;
    places all{{"chunks", e->chunk}};
    if (c.sorted) all.push_back({"perm", sorted_place(A.perm, i)});
    if (c.kind > packed_chunk::diagonals) {
        const std::int64_t k = e->place - std::int64_t(c.val_at) * packed_value_unit;
        all.push_back({"indices", first + (is_narrow(c.kind) ? k / 2 : k)});
    } else {
        const std::int64_t words = words_a_column(c.kind);
        std::int64_t diagonal = first;
        while (std::int32_t(A.indices[std::size_t(diagonal)]) != j - i) diagonal += words;
        for (std::int64_t k = 0; k < words; ++k) all.push_back({"indices", diagonal + k});
    }
    if (e->place < 0) return all;
    all.push_back({"table", A.encoding == value_encoding::constant ? 0
                            : A.encoding == value_encoding::dictionary8
                                ? number_at<std::uint8_t>(A, e->place)
                                : number_at<std::uint16_t>(A, e->place)});
    return all;
}

}  // namespace nz::cli
