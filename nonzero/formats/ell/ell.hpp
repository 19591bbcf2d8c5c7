// ELLPACK (ELL): every row padded to the longest one, stored column by column.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// ELLPACK: every row is padded to the longest one and stored column by column, so that
/// neighbouring threads, one per row, read neighbouring addresses. The pitch is a multiple of 32
/// in truth, for aligned warps; 3 is drawn here.
///
///         | 1 . 2 |      width = 2, pitch = 3
///     A = | . 3 . |      col_ind = 0 1 0   2 - 2      - is -1, padding
///         | 4 . 5 |      val     = 1 3 4   2 0 5
///
/// Moves    pitch * width * (|V| + 4) bytes of matrix a product, padding included.
/// Suits    rows of nearly one length; declines where rows * width passes three times nnz.
/// Source   CS121 2023; PMPP chapter 10.3; Bell and Garland, SC'09,
///          doi:10.1145/1654059.1654078, section 3.
template <class V, class S>
struct ell {
    using value = V;
    using space = S;
    template <class T>
    using in_space = ell<V, T>;

    nz::shape shape;          ///< size of the matrix it stands for        [rows x cols]
    index width;              ///< entries stored per row, padding included    [entries]
    offset pitch;             ///< from one stored column to the next, >= rows [elements]
    array<index, S> col_ind;  ///< width * pitch, column-major; -1 marks padding, last in its row
    array<V, S> val;          ///< width * pitch, column-major; 0 where col_ind is -1

    static auto scalars(auto& a) { return std::tie(a.shape, a.width, a.pitch); }
    static auto arrays(auto& a) { return std::tie(a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape", "width", "pitch"};
    static constexpr std::array array_names{"col_ind", "val"};

    static estimate cost(const matrix_stats&);
    static ell<V, host> from(const csr<V, host_view>&);
    /// The first `width` entries of every row; longer rows are cut. Throws argument_error for a
    /// negative width and where the padding is more than cost would allow.
    static ell<V, host> from(const csr<V, host_view>&, index width);
};
static_assert(format<ell<double, host>>);

/// A piece is one row.
template <class V>
std::int64_t piece_count(const ell<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const ell<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::int64_t i = first; i < last; ++i) {
        for (offset k = 0; k < A.width; ++k) {
            const auto at = std::size_t(k * A.pitch + i);
            if (A.col_ind[at] < 0) break;
            f(index(i), A.col_ind[at], A.val[at]);
        }
    }
}

/// One thread, stored column after stored column of a few hundred rows at a time.
struct ell_serial : kernel_of<ell> {
    static constexpr std::string_view name = "ell.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "CS121 2023, ELL kernel";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, ell_serial, V alpha, const ell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// A row belongs to one thread; on the CPU equal numbers of rows to every thread.
struct ell_row : kernel_of<ell> {
    static constexpr std::string_view name = "ell.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "CS121 2023, ELL kernel; PMPP chapter 10.3; Bell and Garland, SC'09, section 4";
    static work work_on_cpu(const matrix_stats& s) {
        return strided_work(double(s.rows) * double(s.max_row_nnz()));
    }
    static work work_on_gpu(const matrix_stats& s) {  // every row is as wide as the longest
        const double widest = double(s.max_row_nnz());
        return thread_a_row_work(s, widest * double(round_up_to_warp(s.rows) / warp_rows), widest,
                                 strided_units);
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(cpu, ell_row, V alpha, const ell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, ell_row, V alpha, const ell<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
