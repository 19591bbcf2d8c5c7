// SELL-C-sigma: chunks of rows, sorted within scopes, each chunk an ELL of its own width.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

/// SELL-C-sigma: rows are sorted by length within every `sort_scope` (sigma) rows, and every
/// `chunk` (C) of them are padded to the longest among them and stored column by column. With
/// sort_scope = 1 this is HLL, column-major.
///
///         | 1 . 2 |      chunk = 2, sort_scope = 3      chunk_ptr   = 0 4 6
///     A = | . 3 . |      perm    = 0 2 1                chunk_width = 2 1
///         | 4 . 5 |      col_ind = 0 0 2 2  1 -         - is -1, padding
///                        val     = 1 4 2 5  3 0
///
/// Moves    sum of chunk * chunk_width * (|V| + 4) + rows * 4 bytes of matrix a product.
/// Suits    most matrices; declines where padding passes three times nnz.
/// Source   Kreutzer et al. 2014.
template <class V, class S>
struct sell {
    using value = V;
    using space = S;
    template <class T>
    using in_space = sell<V, T>;

    nz::shape shape;              ///< size of the matrix it stands for             [rows x cols]
    index chunk;                  ///< C: rows to a chunk; the last is filled up           [rows]
    index sort_scope;             ///< sigma: rows that are sorted together                [rows]
    array<offset, S> chunk_ptr;   ///< chunks + 1: where each chunk's elements start
    array<index, S> chunk_width;  ///< chunks: entries stored per row                   [entries]
    array<index, S> perm;         ///< rows: the row of A that stands here
    array<index, S> col_ind;      ///< column-major in each chunk; -1 marks padding, ending a row
    array<V, S> val;              ///< the same; 0 where col_ind is -1

    static auto scalars(auto& a) { return std::tie(a.shape, a.chunk, a.sort_scope); }
    static auto arrays(auto& a) {
        return std::tie(a.chunk_ptr, a.chunk_width, a.perm, a.col_ind, a.val);
    }
    static constexpr std::array scalar_names{"shape", "chunk", "sort_scope"};
    static constexpr std::array array_names{"chunk_ptr", "chunk_width", "perm", "col_ind", "val"};

    static constexpr index default_chunk = 32;  ///< a warp's lanes
    static estimate cost(const matrix_stats&);
    static sell<V, host> from(const csr<V, host_view>& A) {
        return from(A, default_chunk, matrix_stats::sort_scope);
    }
    /// Throws argument_error unless chunk >= 1 and sort_scope >= 1, and where padding passes three
    /// times nnz.
    static sell<V, host> from(const csr<V, host_view>&, index chunk, index sort_scope);
};
static_assert(format<sell<double, host>>);

/// Chunk c, less the rows that only fill up the last.
template <class V>
panel<V> chunk(const sell<V, host_view>& A, std::int64_t c) {
    const offset start = A.chunk_ptr[std::size_t(c)];
    const std::int64_t rows = std::min<std::int64_t>(A.chunk, A.shape.rows - c * A.chunk);
    return {A.col_ind.data() + start, A.val.data() + start, rows, A.chunk,
            A.chunk_width[std::size_t(c)]};
}

/// A piece is a chunk.
template <class V>
std::int64_t piece_count(const sell<V, host_view>& A) {
    return std::int64_t(A.chunk_width.size());
}
template <class V, class F>
void for_each_entry(const sell<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::int64_t c = first; c < last; ++c) {
        const index* const row = A.perm.data() + c * A.chunk;
        for_each_stored(chunk(A, c), [&](std::int64_t r, index j, V v) { f(row[r], j, v); });
    }
}

/// One thread, chunk after chunk.
struct sell_serial : kernel_of<sell> {
    static constexpr std::string_view name = "sell.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Kreutzer et al. 2014, section 3";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, sell_serial, V alpha, const sell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// One run of consecutive chunks a thread, of equal stored elements up to one chunk.
struct sell_chunk : kernel_of<sell> {
    static constexpr std::string_view name = "sell.chunk";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Kreutzer et al. 2014, section 3";
    /// Rows that are sorted have their columns, too, from all over the window.
    static work work_on_cpu(const matrix_stats& s) {
        constexpr double sorted = 1.12;
        return padded_work(sorted * double(s.sorted_group_width * matrix_stats::groups[0]),
                           double(s.rows));
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
};
template <class V>
void spmv(cpu, sell_chunk, V alpha, const sell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// One GPU thread a row of a chunk, coalesced.
struct sell_row : kernel_of<sell> {
    static constexpr std::string_view name = "sell.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Kreutzer et al. 2014, section 5";
    static work work_on_gpu(const matrix_stats& s) {
        work w = thread_a_row_work(s, double(s.sorted_group_width), double(s.max_row_nnz()),
                                   strided_units);
        w.work_units += double(round_up_to_warp(s.rows) / warp_rows);  // where its row stands in y
        w.critical_units += 1;
        return w;
    }
    static constexpr kernel_hooks hooks{.work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(gpu, sell_row, V alpha, const sell<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
