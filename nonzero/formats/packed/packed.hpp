// Packed chunks: rows cut for one warp each, stored in as few bytes as this matrix allows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/device_analysis.hpp"

namespace nz {

/// How a packed matrix stores its values. What is multiplied is always the original, bit for bit.
enum class value_coding : index {
    constant,  ///< the same value everywhere: stored once
    table8,    ///< an 8-bit number into a table of distinct values
    table16,   ///< a 16-bit number into it
    narrow,    ///< a float, where every double of the matrix is one
    plain,     ///< as they are
};

/// What one warp multiplies in `steps` steps of 32 lanes: some rows, with 1, 2, 4 .. 32
/// neighbouring lanes each, or a part of a long row.
struct alignas(32) packed_chunk {
    enum columns : std::uint8_t {
        shared,     ///< 32 rows in order, diagonal by diagonal; a diagonal has one value
        diagonals,  ///< 32 rows in order, diagonal by diagonal; no columns, a value an entry
        near,       ///< columns as 16-bit distances from `base`
        far,        ///< columns as 32-bit distances from `base`
    };
    std::uint32_t code_at = 0;   ///< where its columns or diagonals start in `codes`   [16 words]
    std::uint32_t val_at = 0;    ///< where its values start in `val`                   [32 values]
    index first_row = 0;         ///< its row, or the first of its rows
    index base = 0;              ///< the smallest column
    index number = 0;            ///< of sorted rows: where they start in perm; of a part: which
    index parts = 0;             ///< of a long row: how many it is cut into; otherwise 0
    std::uint16_t steps = 0;     ///< stored places of each lane
    columns kind = near;         ///< how its columns are stored
    std::uint8_t log_lanes = 0;  ///< log2 of the lanes that share a row
    std::uint8_t rows = 0;       ///< 1 to 32; 0 where it only fills up a GPU block
    bool sorted = false;         ///< its rows are listed in perm
    std::uint8_t alike = 0;      ///< so many chunks from here on, 2 or 4, have equal diagonals
    std::uint8_t unused = 0;     ///< so that no byte is undefined
    friend bool operator==(const packed_chunk&, const packed_chunk&) = default;
};
static_assert(sizeof(packed_chunk) == 32);  // a GPU reads it in two loads

/// What decides how a matrix is cut. The default of each was measured on an H200, see
/// docs/decisions/packed.md.
struct packed_options {
    index steps = 16;             ///< of one lane, where more lanes can share the row
    index split = 512;            ///< longer rows are cut into parts                   [entries]
    index most_diagonals = 32;    ///< to a chunk
    double diagonal_fill = 0.8;   ///< share of the places on its diagonals that entries take
    double shared_fill = 0.5;     ///< the same, where a diagonal has one value
    double sort_gain = 1.1;       ///< rows are sorted where that spares such a factor of steps
    std::int64_t twos = 6'000;    ///< a GPU warp takes two at once from so many on    [chunks]
    std::int64_t fours = 48'000;  ///< and four from so many on                         [chunks]

    /// Few entries want many short chunks, to fill the machine; many want few long ones.
    static packed_options suited_to(std::int64_t nnz);
    /// How many chunks a warp of a GPU takes at once, of a matrix without parts: 1, 2 or 4.
    /// @param pairs  neighbours within a window whose diagonals have the same offsets, and where
    ///               values are stored in a table, one value each
    [[nodiscard]] index chunks_per_warp(value_coding, const packed_size&, std::int64_t pairs) const;
};

/// Rows are sorted within so many, and GPU blocks build so many at once.
inline constexpr index packed_window = 1024;
/// Chunks to a GPU block: its warps.
inline constexpr index packed_block = 8;
/// Vectors that a warp multiplies at once, where there are several.
inline constexpr int packed_vectors = 8;

/// The rows of every window of 1024 are cut into chunks for one warp each, every chunk by the
/// cheapest means that suits it:
///
///  - 32 rows whose entries lie on few diagonals are stored by diagonals, without columns. A
///    diagonal takes two words, its offset (column - row) and the mask of the rows that have an
///    entry there; where all its entries have one value, that value besides, and nothing else.
///    In a large matrix, two or four such chunks in a row whose diagonals are equal but for their
///    masks are marked, so that a warp of a GPU takes all their rows at once.
///  - Other rows get as many lanes as keep each lane's steps few, and are sorted by length within
///    the window where padding would cost more. Their columns are stored as distances from the
///    chunk's smallest one, in 16 bits where they fit. All ones mark padding.
///  - Rows longer than `split` are cut into parts of 32 lanes, whose sums are added in order.
///
/// Values are stored as the best of value_coding for the whole matrix.
///
///         | 4 1 . |      shared chunk of 3 rows:  offset -1: mask 110, value 1
///     A = | 1 4 1 |      coding = table8                   0: mask 111, value 4
///         | . 1 4 |                                        1: mask 011, value 1
///
/// Moves    steps * 32 * (2 or 4 + bytes of a coded value) + 32 a chunk; see packed_options.
/// Suits    every matrix; gains most where values repeat or columns lie close together. `from`
///          throws argument_error where there are 2^37 stored places or more.
/// Source   this project, after Kreutzer et al. 2014 (chunks), Kourtis et al., CF'08 (fewer bytes
///          for columns and values) and Greathouse and Daga, SC'14 (long rows).
template <class V, class S>
struct packed {
    using value = V;
    using space = S;
    template <class T>
    using in_space = packed<V, T>;

    nz::shape shape;                ///< of the matrix it stands for               [rows x cols]
    value_coding coding;            ///< of all values
    index part_chunks;              ///< chunks that hold parts of rows, in whole GPU blocks
    index chunks_per_warp;          ///< of a GPU: 1, or 2 or 4 where most are alike
    array<packed_chunk, S> chunks;  ///< those of parts first; both as the rows are
    array<index, S> perm;           ///< the rows of sorted chunks
    array<std::uint32_t, S> codes;  ///< columns and diagonals of the chunks, each from a 16th word
    array<std::byte, S> val;        ///< coded values, 32 a step; those of padding are 0
    array<V, S> table;              ///< distinct values, ascending by their bits

    static auto scalars(auto& a) {
        return std::tie(a.shape, a.coding, a.part_chunks, a.chunks_per_warp);
    }
    static auto arrays(auto& a) { return std::tie(a.chunks, a.perm, a.codes, a.val, a.table); }

    static estimate cost(const matrix_stats&);
    static packed<V, host> from(const csr<V, host_view>&);
    /// Throws argument_error where an option is out of its range.
    static packed<V, host> from(const csr<V, host_view>&, const packed_options&);
};
static_assert(format<packed<double, host>>);

/// What `from` would build. Computed in parallel, without building it.
template <class V>
packed_size size_of_packed(const csr<V, host_view>&);

/// P with its values rounded to single precision, its chunks as they are; nothing where values are
/// stored as numbers of 16 bits, of which single precision has no table. Its table may hold a value
/// twice; one that is too large becomes infinite.
std::optional<packed<float, host>> rounded(const packed<double, host_view>& P);

/// A piece is a chunk.
template <class V>
std::int64_t piece_count(const packed<V, host_view>& A) {
    return std::int64_t(A.chunks.size());
}

/// Those of some chunks, of parts or of whole rows, that thread t of so many takes on the CPU:
/// equal bytes, up to a chunk or the parts of one row. V: the values.
template <class V>
std::span<const packed_chunk> share_of(std::span<const packed_chunk> chunks, int t, int threads);

/// What packing finds out first: where everything goes, and how much it is. In 34 bytes a row of
/// GPU memory, beside the CSR, which must stay as it is. Calls `meanwhile` once all is launched,
/// and then waits for the GPU.
template <class V>
class packed_analysis;
template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_for_packing(
    gpu on, const csr<V, device_view>&, const std::function<void()>& meanwhile = [] {});
template <class V>
packed_size size_of_packed(const packed_analysis<V>&);

/// Packs a CSR that lies on the GPU, there: what `from` builds, bit for bit. Waits for the GPU to
/// know the sizes, not for the arrays, which are filled in on.stream. Throws argument_error where
/// row_ptr or the columns of a row do not ascend or leave their range, device_error where the
/// memory does not suffice, unavailable without CUDA. Real values.
template <class V>
packed<V, device> pack(gpu on, const packed_analysis<V>&);
template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A) {
    return pack(on, *analyse_for_packing(on, A));
}

/// Fills P, which `pack` made of a matrix of this pattern, with the values of A: what `pack` would
/// make of A, bit for bit. False, and P as it was, where the chunks hang on the values (few
/// distinct ones, before or now) or the coding would be another. Waits for the GPU. Throws
/// argument_error where the pattern is plainly another; P then means nothing.
template <class V>
bool refill(gpu on, const csr<V, device_view>& A, packed<V, device>& P);

/// A warp, or on the CPU 32 sums in vector registers, for each chunk. One launch. The parts of a
/// long row are added in shared memory, and where they take several blocks, each of these leaves
/// its sum in scratch memory, and the last of them to finish adds those in order.
struct packed_warp : kernel_of<packed> {
    static constexpr std::string_view name = "packed.warp";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Kreutzer et al. 2014; Kourtis et al., CF'08; Greathouse and Daga, SC'14";
    static constexpr kernel_hooks hooks{.refuses_disorder = true,
                                        .work_on_cpu = true,
                                        .work_on_gpu = true,
                                        .build = true,
                                        .refill = true,
                                        .scratch_bytes = true};
    /// A diagonal is a loop over neighbours, of which a vector takes eight; nothing is gathered.
    static work work_on_cpu(const matrix_stats& s) {
        const double diagonal = double(s.packed.diagonal_steps);
        const double listed = double(s.packed.steps) - diagonal;
        return {
            .gathers = std::max(1.0, double(s.nnz) * listed / std::max(listed + diagonal, 1.0)),
            .steps = double(warp_rows) * (0.9 * listed + 0.27 * diagonal) + 1.8 * double(s.rows)};
    }
    static work work_on_gpu(const matrix_stats&);
    /// build throws argument_error for what is no CSR and for rows that do not ascend.
    template <class V>
    static packed<V, device> build(gpu on, const csr<V, device_view>& A,
                                   const device_analysis<V>& known) {
        return known.packing == nullptr ? pack(on, A) : pack(on, *known.packing);
    }
    template <class V>
    static bool refill(gpu on, const csr<V, device_view>& A, packed<V, device>& P) {
        return nz::refill(on, A, P);
    }
    /// A block of parts has a sum, a counter in 8 bytes, and a sum for each of several vectors.
    template <class V>
    static std::size_t scratch_bytes(gpu, const packed<V, device_view>& A) {
        return std::size_t(A.part_chunks / packed_block) *
               ((1 + packed_vectors) * sizeof(V) + 2 * sizeof(unsigned));
    }
};
template <class V>
void spmv(cpu, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, packed_warp, V alpha, const packed<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// The same with several vectors: a chunk is decoded once for packed_vectors of them, and the other
/// times from the nearest caches; the parts of long rows are read once for as many. Other roundings
/// than with one vector; deterministic.
template <class V>
void spmv_many(cpu, packed_warp, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X,
               V beta, out_columns<V, cpu> Y);
template <class V>
void spmv_many(gpu, packed_warp, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
               V beta, out_columns<V, gpu> Y);

/// The value of a coded entry.
template <value_coding C, class V>
struct decoder {
    const std::byte* val;
    const V* table;
    V operator[](std::size_t at) const {
        if constexpr (C == value_coding::constant) return table[0];
        if constexpr (C == value_coding::table8) return table[std::size_t(val[at])];
        if constexpr (C == value_coding::table16)
            return table[reinterpret_cast<const std::uint16_t*>(val)[at]];
        if constexpr (C == value_coding::narrow) return V(reinterpret_cast<const float*>(val)[at]);
        if constexpr (C == value_coding::plain) return reinterpret_cast<const V*>(val)[at];
    }
};

/// f(decoder) for the coding of A.
template <class V, class F>
decltype(auto) with_decoder(const packed<V, host_view>& A, F f) {
    const auto call = [&]<value_coding C>() {
        return f(decoder<C, V>{A.val.data(), A.table.data()});
    };
    switch (A.coding) {
        case value_coding::constant:
            return call.template operator()<value_coding::constant>();
        case value_coding::table8:
            return call.template operator()<value_coding::table8>();
        case value_coding::table16:
            return call.template operator()<value_coding::table16>();
        case value_coding::narrow:
            return call.template operator()<value_coding::narrow>();
        case value_coding::plain:
            break;
    }
    return call.template operator()<value_coding::plain>();
}

/// f(row, column, value) for every entry of one chunk.
template <class D, class V, class F>
void for_each_of_chunk(const packed<V, host_view>& A, const packed_chunk& c, D value, F f) {
    const std::uint32_t* const code = A.codes.data() + std::size_t(c.code_at) * 16;
    const auto* const near = reinterpret_cast<const std::uint16_t*>(code);
    std::size_t at = std::size_t(c.val_at) * 32;
    const bool shared = c.kind == packed_chunk::shared, listed = c.kind >= packed_chunk::near;
    for (std::uint32_t s = 0; s < c.steps; ++s)
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const std::uint32_t r = lane >> c.log_lanes;
            if (r >= c.rows) break;
            const index i = c.sorted ? A.perm[std::size_t(c.number) + r] : c.first_row + index(r);
            if (listed) {
                const std::size_t k = std::size_t(s) * 32 + lane;
                const bool is_near = c.kind == packed_chunk::near;
                if (is_near ? near[k] == 0xffff : code[k] == 0xffffffffU) continue;
                f(i, c.base + index(is_near ? near[k] : code[k]), value[at + k]);
                continue;
            }
            const std::uint32_t* const word = code + std::size_t(s) * (shared ? 4 : 2);
            if ((word[1] >> lane & 1) == 0) continue;
            V v{};
            if (shared) {
                std::memcpy(static_cast<void*>(&v), word + 2, std::min<std::size_t>(sizeof(V), 8));
            } else {
                v = value[at + std::size_t(s) * 32 + lane];
            }
            f(i, i + std::int32_t(word[0]), v);
        }
}
template <class V, class F>
void for_each_entry(const packed<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    with_decoder(A, [&](auto value) {
        for (std::int64_t c = first; c < last; ++c)
            for_each_of_chunk(A, A.chunks[std::size_t(c)], value, f);
    });
}

}  // namespace nz
