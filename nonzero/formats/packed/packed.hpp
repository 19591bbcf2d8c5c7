// Packed chunks: rows cut for one warp each, stored in as few bytes as this matrix allows.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/packed/layout.hpp"

namespace nz {

/// How rows become chunks. The defaults were chosen on an H200; docs/decisions/packed.md says which
/// of them no committed run isolates.
struct packed_options {
    index lane_width = 16;  ///< a row gets more lanes where one lane would hold more  [entries]
    /// A matrix of fewer chunks of lists gets a fourth of lane_width, where its columns lie far
    /// apart.
    index few_chunks = 0;
    index split = 512;          ///< longer rows are cut into segments                     [entries]
    index most_diagonals = 32;  ///< diagonals of a chunk at most
    double diagonal_fill = 0.8;  ///< least share of entries among the places of the diagonals
    double constant_fill = 0.5;  ///< the same where each diagonal has one value
    double sort_gain = 1.1;      ///< rows are sorted where that divides the width by this much
    /// Sorting scope on the CPU [rows], used if L1 holds the x of that many rows but not of a
    /// window. 0: the window.
    index local_scope = 0;
    /// A matrix of more distinct values has no table on the CPU.
    index most_values = 4096;
    double tile_gain = HUGE_VAL;  ///< rows become tiles where that divides the bytes by this much
    /// Least share of tiles in the stored places; a matrix with fewer of them has none.
    double tile_share = 1.0 / 16;
    std::int64_t pair_min_chunks = 6'000;   ///< from here on a GPU warp may take two chunks at once
    std::int64_t quad_min_chunks = 48'000;  ///< from here on it may take four

    /// On a GPU small matrices get many short chunks, to fill the machine, large ones few long
    /// chunks, and tiles; on a CPU chunks are long.
    static packed_options suited_to(cpu, std::int64_t nnz);
    static packed_options suited_to(gpu, std::int64_t nnz);
    /// Chunks that a GPU warp takes at once: 1, 2 or 4. For a matrix without segments.
    /// @param pairs  neighbours within a window whose diagonals have the same offsets, and, where
    ///               values are stored in a table, one value each
    [[nodiscard]] index chunks_per_warp(value_encoding, const matrix_stats::packed_size&,
                                        std::int64_t pairs) const;
    /// Whether a matrix so cut has tiles, but too few.
    [[nodiscard]] bool tiles_are_few(const matrix_stats::packed_size& s) const {
        return s.tile_width > 0 && double(s.tile_width) < tile_share * double(s.width);
    }
};

/// The rows of every window are cut into chunks for one warp each. A chunk takes the cheapest of
/// these forms:
///
///  - Diagonals: 32 rows whose entries lie on few diagonals. A diagonal takes two words, its offset
///    (column - row) and the mask of the rows that have an entry on it, and no columns. Where all
///    its entries have one value, it also holds that value, and `val` holds nothing.
///    In a large matrix, two or four consecutive chunks whose diagonals differ in their masks only
///    are marked `identical`: one warp of a GPU takes all their rows.
///  - Lists: other rows get as many lanes as keep `width` small, on a GPU more where few chunks
///    load x from far apart. They are sorted by length within the window where padding would cost
///    more. Columns are distances from the chunk's smallest column, in 16 bits where they fit. All
///    ones mark padding. On a CPU, fewer rows are sorted together where only so few find what they
///    share of x in L1.
///  - Tiles, on a GPU: in a window of short rows of very different lengths, whose values are not in
///    a table, lists are mostly padding. The lanes then share the entries of consecutive rows
///    equally, and flags mark where rows end. Without padding, but sums take more steps, and the
///    kernel for tiles leaves less L1 to x: a matrix has many of them or none.
///  - Segments: rows longer than `split` are cut into segments of 32 lanes. The sums of a row's
///    segments are added in order.
///
/// One value_encoding, the smallest that is exact, serves the whole matrix.
///
///         | 4 1 . |      constant_diagonals, 3 rows:   offset -1: mask 110, value 1
///     A = | 1 4 1 |      encoding = dictionary8                0: mask 111, value 4
///         | . 1 4 |                                            1: mask 011, value 1
///
/// Moves    width * 32 * (2 or 4 + bytes of an encoded value) + 32 a chunk; see packed_options.
/// Suits    every matrix; most where values repeat or columns lie close together. `from` throws
///          argument_error where there are 2^37 stored places or more.
/// Source   this project, after Kreutzer et al. 2014 (chunks), Kourtis et al., CF'08 (fewer bytes
///          for columns and values), Greathouse and Daga, SC'14 (long rows) and Liu and Vinter,
///          ICS'15 (tiles).
template <class V, class S>
struct packed {
    using value = V;
    using space = S;
    template <class T>
    using in_space = packed<V, T>;

    nz::shape shape;                  ///< [rows x cols]
    value_encoding encoding;          ///< the encoding of all values
    index segment_chunks;             ///< chunks that hold segments, in whole GPU blocks
    index chunks_per_warp;            ///< on a GPU: 1, or 2 or 4 where most chunks are identical
    index tiles;                      ///< chunks that are tiles
    array<packed_chunk, S> chunks;    ///< those of segments first, then those of whole rows
    array<index, S> perm;             ///< the rows of sorted chunks
    array<std::uint32_t, S> indices;  ///< columns and diagonals, from a multiple of 16 words on
    array<std::byte, S> val;          ///< encoded values, 32 for each column; 0 for padding
    array<V, S> table;                ///< distinct values, ascending by their bits

    static auto scalars(auto& a) {
        return std::tie(a.shape, a.encoding, a.segment_chunks, a.chunks_per_warp, a.tiles);
    }
    static auto arrays(auto& a) { return std::tie(a.chunks, a.perm, a.indices, a.val, a.table); }

    static estimate cost(const matrix_stats&);
    static packed<V, host> from(const csr<V, host_view>&);
    /// Throws argument_error where an option is out of its range.
    static packed<V, host> from(const csr<V, host_view>&, const packed_options&);
};
static_assert(format<packed<double, host>>);

/// The size of what `from` would build by these options. Computed in parallel, without building it.
template <class V>
matrix_stats::packed_size size_of_packed(const csr<V, host_view>&, const packed_options&);

/// P with its values rounded to single precision and its chunks as they are. Nothing where the
/// encoding is dictionary16, which single precision does not use. The table may then hold a value
/// twice; a value that is too large becomes infinite.
std::optional<packed<float, host>> rounded(const packed<double, host_view>& P);

/// A piece is a chunk.
template <class V>
std::int64_t piece_count(const packed<V, host_view>& A) {
    return std::int64_t(A.chunks.size());
}

/// The chunks of segments and those of whole rows of part p of `parts` on the CPU: all that begins
/// in that part of the matrix and y, of equal bytes, where the segments of a row count as one.
template <class V>
std::array<std::span<const packed_chunk>, 2> share_of(const packed<V, host_view>& A, int p,
                                                      int parts);

/// The first half of packing on a GPU: where every chunk goes, and the sizes of all arrays. Takes
/// 34 bytes a row of GPU memory. The CSR must stay unchanged until it is packed. Calls `meanwhile`
/// once all kernels are launched, then waits for the GPU. of_transpose: that of the matrix whose
/// transpose this CSR was made as; its values and their check serve here, too.
template <class V>
class packed_analysis;
template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_for_packing(
    gpu on, const csr<V, device_view>&, const std::function<void()>& meanwhile = [] {},
    std::shared_ptr<const packed_analysis<V>> of_transpose = nullptr);
/// The same of a matrix that has some entries of another, in their order, by these options. What
/// was found out about the other is not looked for again.
template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_part(gpu on, const csr<V, device_view>& part,
                                                       const packed_options&,
                                                       const packed_analysis<V>& whole);
template <class V>
matrix_stats::packed_size size_of_packed(const packed_analysis<V>&);

/// Packs a CSR in GPU memory on the GPU, into what `from` builds, bit for bit. Waits for the GPU to
/// learn the sizes; the arrays are then filled in on.stream without waiting. Real values. Throws
/// argument_error where row_ptr or the columns of a row do not ascend or are out of range,
/// device_error where the memory does not suffice, unavailable without CUDA.
template <class V>
packed<V, device> pack(gpu on, const packed_analysis<V>&);
/// Starts now what the next `pack` of this analysis hands over: for callers that will most likely
/// want it and have something to do until they know. Without a wait; does nothing where the memory
/// does not suffice.
template <class V>
void pack_ahead(gpu on, const packed_analysis<V>&);
template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A) {
    return pack(on, *analyse_for_packing(on, A));
}

/// The same by these options.
template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>& A, const packed_options&);

/// Puts the values of A into P, which `pack` made of a matrix of the same pattern: P becomes what
/// `pack` makes of A, bit for bit. Returns false and leaves P unchanged where the chunks depend on
/// the values (few distinct ones, before or now) or the encoding changes. Waits for the GPU. Throws
/// argument_error where the pattern is another; P then means nothing.
template <class V>
bool refill(gpu on, const csr<V, device_view>& A, packed<V, device>& P);

/// One warp a chunk; on the CPU, 32 sums in vector registers a chunk. One launch. The segments of a
/// long row are added in shared memory. Where they span several blocks, each block leaves its sum
/// in scratch memory, and the last block to finish adds these in order.
struct packed_warp : kernel_of<packed> {
    static constexpr std::string_view name = "packed.warp";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Kreutzer et al. 2014; Kourtis et al., CF'08; Greathouse and Daga, SC'14";
    /// A diagonal is a loop over neighbours, eight to a vector, without gathers.
    static work work_on_cpu(const matrix_stats& s) {
        const double diagonal = double(s.packed.diagonal_width);
        const double listed = double(s.packed.width) - diagonal;
        return {.sector_requests =
                    std::max(1.0, double(s.nnz) * listed / std::max(listed + diagonal, 1.0)),
                .work_units =
                    double(warp_rows) * (0.9 * listed + 0.27 * diagonal) + 1.8 * double(s.rows)};
    }
    static work work_on_gpu(const matrix_stats&);
    /// Throws argument_error where A is no CSR with ascending columns.
    template <class V>
    static packed<V, device> build(gpu on, const csr<V, device_view>& A,
                                   const packed_analysis<V>* known) {
        return known == nullptr ? pack(on, A) : pack(on, *known);
    }
    template <class V>
    static bool refill(gpu on, const csr<V, device_view>& A, packed<V, device>& P) {
        return nz::refill(on, A, P);
    }
    /// For each block of segments: a sum, a counter in 8 bytes, and for each of several vectors
    /// another sum, for every eight of them a counter.
    template <class V>
    static std::size_t scratch_bytes(gpu, const packed<V, device_view>& A) {
        return std::size_t(A.segment_chunks / packed_block) *
               (sizeof(V) + 2 * sizeof(unsigned) + packed_row_vectors * sizeof(V) +
                packed_row_vectors / packed_vectors * sizeof(unsigned));
    }
    /// Column-major vectors turned to row-major ones, where that pays: entries whose columns lie
    /// apart then cost one request for several vectors, not one for each.
    template <class V>
    static std::size_t scratch_for_many(gpu, const packed<V, device_view>& A,
                                        const in_columns<V, gpu>& X);
    static constexpr kernel_hooks hooks{
        .many_on_gpu = true, .packs = true, .work_on_cpu = work_on_cpu, .work_on_gpu = work_on_gpu};
    template <class V>
    static constexpr layout_hooks<V, packed> hooks_over{.build = build<V>,
                                                        .refill = refill<V>,
                                                        .scratch_on_gpu = scratch_bytes<V>,
                                                        .scratch_for_many = scratch_for_many<V>};
};
template <class V>
void spmv(cpu, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, packed_warp, V alpha, const packed<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// The same with several vectors, each array in its own order. Column-major X: a chunk is decoded
/// once for packed_vectors of them and read again, mostly from L1, for the next. Row-major X, and
/// tiles: once for all of a row's. Rounds otherwise than spmv; deterministic.
template <class V>
void spmv_many(cpu, packed_warp, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X,
               V beta, out_columns<V, cpu> Y);
template <class V>
void spmv_many(gpu, packed_warp, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
               V beta, out_columns<V, gpu> Y);

/// As spmv of one vector; on a GPU also as the product of many row-major vectors, where they and A
/// suit that kernel. On a GPU of real values.
template <class V>
bool relax(cpu, packed_warp, const typename linear_operator<V, cpu>::relaxation& how,
           const packed<V, host_view>& A, in_columns<V, cpu> X, out_columns<V, cpu> Y);
template <class V>
requires(!is_complex<V>) bool relax(gpu, packed_warp,
                                    const typename linear_operator<V, gpu>::relaxation& how,
                                    const packed<V, device_view>& A, in_columns<V, gpu> X,
                                    out_columns<V, gpu> Y);
/// The same of one vector.
template <class V>
void relax_vector(gpu, const typename linear_operator<V, gpu>::relaxation& how,
                  const packed<V, device_view>& A, device_span<V> x, device_out<V> y);

/// As spmv, with the update of apply_fused. On a GPU of real values.
template <class V>
bool spmv_fused(cpu, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x,
                V beta, std::span<V> y, const typename linear_operator<V, cpu>::fused_update&);
template <class V>
requires(!is_complex<V>) bool spmv_fused(gpu, packed_warp, V alpha, const packed<V, device_view>& A,
                                         device_span<V> x, V beta, device_out<V> y,
                                         const typename linear_operator<V, gpu>::fused_update&);
/// One for each group of chunks that one thread takes.
template <class V>
std::size_t product_parts(packed_warp, const packed<V, host_view>& A) {
    constexpr std::size_t chunks_of_a_part = 256, most = 64;
    return std::clamp<std::size_t>(A.chunks.size() / chunks_of_a_part, 1, most);
}
/// One for each block of the launch, where warps take several chunks at once. With a chunk a warp,
/// waiting for w takes longer than a pass of its own (docs/decisions/fused-products.md).
template <class V>
requires(!is_complex<V>) std::size_t product_parts(packed_warp, const packed<V, device_view>& A) {
    if (A.chunks_per_warp == 1) return 0;
    const auto of_a_block = std::size_t(packed_block * A.chunks_per_warp);
    return (A.chunks.size() + of_a_block - 1) / of_a_block;
}

/// The value of an encoded entry.
template <value_encoding C, class V>
struct decoder {
    static constexpr bool may_tile = C >= value_encoding::float32;  ///< a table excludes tiles
    const std::byte* val;
    const V* table;
    V operator[](std::size_t at) const {
        if constexpr (C == value_encoding::constant) return table[0];
        if constexpr (C == value_encoding::dictionary8) return table[std::size_t(val[at])];
        if constexpr (C == value_encoding::dictionary16)
            return table[reinterpret_cast<const std::uint16_t*>(val)[at]];
        if constexpr (C == value_encoding::float32)
            return V(reinterpret_cast<const float*>(val)[at]);
        if constexpr (C == value_encoding::none) return reinterpret_cast<const V*>(val)[at];
    }
};

/// f(decoder) for the encoding of A.
template <class V, class F>
void with_decoder(const packed<V, host_view>& A, F f) {
    with_encoding<V>(A.encoding, [&]<value_encoding C>() {
        f(decoder<C, V>{A.val.data(), A.table.data()});
    });
}

/// The value of all entries of a constant diagonal, of which `word` is the first word.
template <class V>
V value_of_diagonal(const std::uint32_t* word) {
    V v{};
    std::memcpy(static_cast<void*>(&v), word + 2, std::min<std::size_t>(sizeof(V), 8));
    return v;
}

/// f(row, column, value) for every entry of a tile, row by row.
template <class D, class V, class F>
void for_each_of_tile(const packed<V, host_view>& A, const packed_chunk& c, D value, F f) {
    const std::uint32_t* const words =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const auto* const delta16 = reinterpret_cast<const std::uint16_t*>(words);
    const std::uint32_t* const ends = words + words_a_column(c.kind) * c.width;
    const std::uint32_t* const occupied = ends + tile_ends_words;
    const auto next = [&](index r) {  // the first row from r on that has an entry
        while (r < c.rows && (occupied[r / 32] >> (r % 32) & 1) == 0) ++r;
        return r;
    };
    index r = next(0);
    for (std::uint32_t e = 0; e < 32U * c.width && r < c.rows; ++e) {
        const std::uint32_t lane = e / c.width, s = e % c.width;
        const std::size_t k = std::size_t(s) * 32 + lane;
        const std::uint32_t distance = is_narrow(c.kind) ? delta16[k] : words[k];
        f(c.first_row + r, c.base + index(distance),
          value[std::size_t(c.val_at) * packed_value_unit + k]);
        if ((ends[lane / 4] >> (8 * (lane % 4) + s) & 1) != 0) r = next(r + 1);
    }
}

/// f(row, column, value) for every entry of one chunk.
template <class D, class V, class F>
void for_each_of_chunk(const packed<V, host_view>& A, const packed_chunk& c, D value, F f) {
    if constexpr (D::may_tile)
        if (is_tile(c.kind)) return for_each_of_tile(A, c, value, f);
    const std::uint32_t* const words =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const auto* const delta16 = reinterpret_cast<const std::uint16_t*>(words);
    std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    const bool constant = c.kind == packed_chunk::constant_diagonals,
               listed = c.kind >= packed_chunk::delta16;
    for (std::uint32_t s = 0; s < c.width; ++s)
        for (std::uint32_t lane = 0; lane < 32; ++lane) {
            const std::uint32_t r = lane >> c.log_lanes;
            if (r >= c.rows) break;
            const index i = c.sorted ? A.perm[std::size_t(c.number) + r] : c.first_row + index(r);
            if (listed) {
                const std::size_t k = std::size_t(s) * 32 + lane;
                const bool is_delta16 = c.kind == packed_chunk::delta16;
                if (is_delta16 ? delta16[k] == padding16 : words[k] == padding32) continue;
                f(i, c.base + index(is_delta16 ? delta16[k] : words[k]), value[at + k]);
                continue;
            }
            const std::uint32_t* const word = words + std::size_t(s) * words_a_column(c.kind);
            if ((word[1] >> lane & 1) == 0) continue;
            f(i, i + std::int32_t(word[0]),
              constant ? value_of_diagonal<V>(word) : value[at + std::size_t(s) * 32 + lane]);
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
