// Block sparse row (BSR): CSR of small dense blocks.
#pragma once

#include <bit>

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// Block sparse row: the matrix cut into blocks of block_rows x block_cols, aligned at multiples of
/// those; every block that holds an entry is stored in full, blocks in the order of CSR. A bit a
/// value tells entries from fill, so that a stored zero stays one. Blocks at the right and lower
/// edge may reach out of the matrix.
///
///         | 1 . | 2        block_row_ptr = 0                       2                       4
///     A = | . 3 | .        block_col_ind = 0           1           0           1
///         | ----+--        stored        = 1 0 0 1     1 0 0 0     1 0 0 0     1 0 0 0
///         | 4 . | 5        val           = 1 - - 3     2 - - -     4 - - -     5 - - -
///                                                                              - is 0, fill
///
/// Moves    blocks * (block_rows * block_cols * |V| + 12) + (rows / block_rows + 1) * 4 bytes.
/// Suits    several unknowns a mesh point; declines where it takes 1.5 times the bytes of CSR.
/// Source   Im, Yelick and Vuduc, IJHPCA 18 (2004), doi:10.1177/1094342004041296.
template <class V, class S>
struct bsr {
    using value = V;
    using space = S;
    template <class T>
    using in_space = bsr<V, T>;

    nz::shape shape;                 ///< size of the matrix                         [rows x cols]
    index block_rows, block_cols;    ///< the size of a block; their product is at most 64
    array<offset, S> block_row_ptr;  ///< rows / block_rows, rounded up, + 1           [blocks]
    array<index, S> block_col_ind;   ///< blocks; ascending within a row of blocks
    array<std::uint64_t, S> stored;  ///< blocks; bit r * block_cols + c speaks of (r, c) inside
    array<V, S> val;                 ///< blocks * block_rows * block_cols, row-major inside

    static auto scalars(auto& a) { return std::tie(a.shape, a.block_rows, a.block_cols); }
    static auto arrays(auto& a) {
        return std::tie(a.block_row_ptr, a.block_col_ind, a.stored, a.val);
    }
    static constexpr std::array scalar_names{"shape", "block_rows", "block_cols"};
    static constexpr std::array array_names{"block_row_ptr", "block_col_ind", "stored", "val"};

    static estimate cost(const matrix_stats&);
    /// Square blocks of the side, of matrix_stats::block_sides, that takes the fewest bytes.
    static bsr<V, host> from(const csr<V, host_view>&);
    /// Blocks as the caller wants them, whatever the fill. Throws argument_error unless both are
    /// positive and their product is at most 64.
    static bsr<V, host> from(const csr<V, host_view>&, index block_rows, index block_cols);
};
static_assert(format<bsr<double, host>>);

/// A piece is one row of blocks.
template <class V>
std::int64_t piece_count(const bsr<V, host_view>& A) {
    return std::int64_t(A.block_row_ptr.size()) - 1;
}
template <class V, class F>
void for_each_entry(const bsr<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    const auto size = std::size_t(A.block_rows * A.block_cols);
    for (auto i = std::size_t(first); i < std::size_t(last); ++i) {
        for (auto b = std::size_t(A.block_row_ptr[i]); b < std::size_t(A.block_row_ptr[i + 1]);
             ++b) {
            for (std::uint64_t bits = A.stored[b]; bits != 0; bits &= bits - 1) {
                const index at = std::countr_zero(bits);
                f(index(i) * A.block_rows + at / A.block_cols,
                  A.block_col_ind[b] * A.block_cols + at % A.block_cols,
                  A.val[b * size + std::size_t(at)]);
            }
        }
    }
}

/// Occupied blocks of block_rows x block_cols, aligned. Computed in parallel. Throws argument_error
/// as from does.
template <class V>
std::int64_t count_blocks(const csr<V, host_view>& A, index block_rows, index block_cols);

/// Values stored for each nonzero: 1 where every block is full. 1 for a matrix without entries.
template <class V>
double fill(const bsr<V, host_view>& A);

/// One thread, block after block.
struct bsr_serial : kernel_of<bsr> {
    static constexpr std::string_view name = "bsr.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Im, Yelick and Vuduc 2004, section 2";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, bsr_serial, V alpha, const bsr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// A row of blocks belongs to one CPU thread, equal numbers of blocks to every thread up to one
/// row; or to one warp of a GPU, whose lanes share its blocks row by row.
struct bsr_block : kernel_of<bsr> {
    static constexpr std::string_view name = "bsr.block";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Im, Yelick and Vuduc 2004, section 2; rows of blocks shared as in csr.balanced";
    /// The rows of a block are lanes; each asks of one entry after the other whether it is fill.
    static work work_on_gpu(const matrix_stats&);
    /// A full block is a small dense product; in others every entry is asked whether it is fill.
    static work work_on_cpu(const matrix_stats&);
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_warp};
};
template <class V>
void spmv(cpu, bsr_block, V alpha, const bsr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, bsr_block, V alpha, const bsr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
