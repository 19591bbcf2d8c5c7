// Diagonal format (DIA): every occupied diagonal in full, without column numbers.
#pragma once

#include <bit>

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// Diagonals: those that hold an entry are stored in full, one after the other, indexed by row.
/// A bit an element tells an entry from padding, so that a stored zero stays one. The pitch is a
/// multiple of 32 in truth; 3 is drawn here.
///
///         | 1 . 2 |      offsets   = -2      0       2
///     A = | . 3 . |      diagonals = - - 4   1 3 5   2 - -      - is 0, padding
///         | 4 . 5 |      stored    = 0 0 1   1 1 1   1 0 0      32 bits to a word
///
/// Moves    diagonals * (pitch * |V| + pitch / 8 + 4) bytes of matrix a product.
/// Suits    stencils and bands; declines where rows * diagonals passes three times nnz.
/// Source   CS121 2023; Bell and Garland, SC'09, doi:10.1145/1654059.1654078, section 3.
template <class V, class S>
struct dia {
    using value = V;
    using space = S;
    template <class T>
    using in_space = dia<V, T>;

    nz::shape shape;                 ///< size of the matrix                         [rows x cols]
    offset pitch;                    ///< from one diagonal to the next, >= rows        [elements]
    array<index, S> offsets;         ///< column minus row of each diagonal, ascending
    array<V, S> diagonals;           ///< offsets.size() * pitch; 0 where nothing is stored
    array<std::uint32_t, S> stored;  ///< offsets.size() * pitch / 32; bit i % 32 speaks of row i

    static auto scalars(auto& a) { return std::tie(a.shape, a.pitch); }
    static auto arrays(auto& a) { return std::tie(a.offsets, a.diagonals, a.stored); }
    static constexpr std::array scalar_names{"shape", "pitch"};
    static constexpr std::array array_names{"offsets", "diagonals", "stored"};

    static estimate cost(const matrix_stats&);
    static dia<V, host> from(const csr<V, host_view>&);
};
static_assert(format<dia<double, host>>);

/// A piece is 32 rows: one word of every diagonal.
template <class V>
std::int64_t piece_count(const dia<V, host_view>& A) {
    return A.pitch / warp_rows;
}
template <class V, class F>
void for_each_entry(const dia<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::int64_t w = first; w < last; ++w) {
        for (std::size_t d = 0; d < A.offsets.size(); ++d) {
            const std::int64_t start = std::int64_t(d) * A.pitch;
            std::uint32_t bits = A.stored[std::size_t(start / warp_rows + w)];
            for (; bits != 0; bits &= bits - 1) {
                const std::int64_t i = w * warp_rows + std::countr_zero(bits);
                f(index(i), index(i + A.offsets[d]), A.diagonals[std::size_t(start + i)]);
            }
        }
    }
}

/// One thread, diagonal after diagonal of a few hundred rows at a time.
struct dia_serial : kernel_of<dia> {
    static constexpr std::string_view name = "dia.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "CS121 2023, DIA format";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, dia_serial, V alpha, const dia<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// A row belongs to one thread; on the CPU equal numbers of rows to every thread.
struct dia_row : kernel_of<dia> {
    static constexpr std::string_view name = "dia.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "CS121 2023, DIA format; Bell and Garland, SC'09, section 4";
    static work work_on_gpu(const matrix_stats& s) {  // every row walks all diagonals
        const double width = double(s.diagonals);
        return thread_a_row_work(s, width * double(round_up_to_warp(s.rows) / warp_rows), width,
                                 unrolled_units);
    }
    static constexpr kernel_hooks hooks{.work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(cpu, dia_row, V alpha, const dia<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, dia_row, V alpha, const dia<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
