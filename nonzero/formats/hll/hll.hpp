// Hacked ELLPACK (HLL): blocks of rows, each an ELL of its own width, in two orders of storage.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

/// Hacked ELLPACK: `hack_size` rows at a time are padded to the longest among them, so that one
/// long row widens its own hack only. The last hack holds only the rows that are left.
///
///         | 1 . 2 |      hack_size = 2   hack_ptr = 0 4 6   max_nnz = 2 2
///     A = | . 3 . |                         row-major      column-major
///         | 4 . 5 |      col_ind = 0 2 1 - 0 2      0 1 2 - 0 2      - is -1, padding
///                        val     = 1 2 3 0 4 5      1 3 2 0 4 5
///
/// Moves    sum of hack_size * max_nnz * (|V| + 4) bytes of matrix a product, padding included.
/// Suits    rows whose length changes slowly; declines where padding passes three times nnz.
/// Source   Calzetta and Lori 2025, HLL.
template <class V, class S, storage_order O>
struct hacked_ell {
    using value = V;
    using space = S;
    template <class T>
    using in_space = hacked_ell<V, T, O>;

    nz::shape shape;            ///< size of the matrix it stands for               [rows x cols]
    index hack_size;            ///< rows to a hack                                        [rows]
    array<offset, S> hack_ptr;  ///< hacks + 1: where each hack's elements start
    array<index, S> max_nnz;    ///< hacks: entries stored per row                      [entries]
    array<index, S> col_ind;    ///< hack after hack; -1 marks padding, at the end of a row
    array<V, S> val;            ///< the same; 0 where col_ind is -1

    static auto scalars(auto& a) { return std::tie(a.shape, a.hack_size); }
    static auto arrays(auto& a) { return std::tie(a.hack_ptr, a.max_nnz, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape", "hack_size"};
    static constexpr std::array array_names{"hack_ptr", "max_nnz", "col_ind", "val"};

    static constexpr index default_hack_size = 32;  ///< a warp's lanes
    static estimate cost(const matrix_stats&);
    static hacked_ell<V, host, O> from(const csr<V, host_view>& A) {
        return from(A, default_hack_size);
    }
    /// Throws argument_error unless hack_size >= 1, and where padding passes three times nnz.
    static hacked_ell<V, host, O> from(const csr<V, host_view>&, index hack_size);
};

/// Hacks stored column by column: entry k of a hack's row r is element k * rows + r of the hack.
template <class V, class S>
using hll = hacked_ell<V, S, storage_order::column_major>;
/// Hacks stored row by row: entry k of a hack's row r is element r * max_nnz + k of the hack.
template <class V, class S>
using hll_rows = hacked_ell<V, S, storage_order::row_major>;
static_assert(format<hll<double, host>> && format<hll_rows<double, host>>);

/// How many rows hack h holds: hack_size, or those that are left.
template <class M>
std::int64_t hack_rows(const M& A, std::int64_t h) {
    return std::min<std::int64_t>(A.hack_size, A.shape.rows - h * A.hack_size);
}

template <class V>
panel<V> hack(const hll<V, host_view>& A, std::int64_t h) {
    const offset start = A.hack_ptr[std::size_t(h)];
    const std::int64_t rows = hack_rows(A, h);
    return {A.col_ind.data() + start, A.val.data() + start, rows, rows, A.max_nnz[std::size_t(h)]};
}

/// A piece is a hack.
template <class V, storage_order O>
std::int64_t piece_count(const hacked_ell<V, host_view, O>& A) {
    return std::int64_t(A.max_nnz.size());
}
template <class V, class F>
void for_each_entry(const hll<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::int64_t h = first; h < last; ++h)
        for_each_stored(hack(A, h),
                        [&](std::int64_t r, index j, V v) { f(index(h * A.hack_size + r), j, v); });
}
template <class V, class F>
void for_each_entry(const hll_rows<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::int64_t h = first; h < last; ++h) {
        auto at = std::size_t(A.hack_ptr[std::size_t(h)]);
        for (std::int64_t r = 0; r < hack_rows(A, h); ++r)
            for (index k = 0; k < A.max_nnz[std::size_t(h)]; ++k, ++at)
                if (A.col_ind[at] >= 0) f(index(h * A.hack_size + r), A.col_ind[at], A.val[at]);
    }
}

/// One thread, hack after hack, row-major.
struct hll_serial : kernel_of<hll_rows> {
    static constexpr std::string_view name = "hll.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, algorithm 2";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, hll_serial, V alpha, const hll_rows<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Row-major; shrinking runs of hacks to whichever thread is free (OpenMP's guided schedule).
struct hll_row_guided : kernel_of<hll_rows> {
    static constexpr std::string_view name = "hll.row_guided";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, OpenMP with HLL";
    /// Plain rows, each as long as the longest of its hack.
    static work work_on_cpu(const matrix_stats& s) {
        return {.work_units =
                    0.9 * double(s.group_width[0] * matrix_stats::groups[0]) + 8 * double(s.rows)};
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
};
template <class V>
void spmv(cpu, hll_row_guided, V alpha, const hll_rows<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y);

/// One thread, hack after hack, column-major.
struct hll_column_serial : kernel_of<hll> {
    static constexpr std::string_view name = "hll.column_serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, algorithm 3";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, hll_column_serial, V alpha, const hll<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Column-major; shrinking runs of hacks to whichever thread is free (OpenMP's guided schedule).
struct hll_column_guided : kernel_of<hll> {
    static constexpr std::string_view name = "hll.column_guided";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, OpenMP with HLL";
    static work work_on_cpu(const matrix_stats& s) {
        return padded_work(double(s.group_width[0] * matrix_stats::groups[0]), double(s.rows));
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
};
template <class V>
void spmv(cpu, hll_column_guided, V alpha, const hll<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Column-major on the GPU: one thread a row, coalesced.
struct hll_column : kernel_of<hll> {
    static constexpr std::string_view name = "hll.column";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, HLL kernel 3";
    static constexpr kernel_hooks hooks{.work_on_gpu = work_of_thread_a_row,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(gpu, hll_column, V alpha, const hll<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// Row-major on the GPU: one thread a row, its neighbours a whole padded row away.
struct hll_row : kernel_of<hll_rows> {
    static constexpr std::string_view name = "hll.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, HLL kernel 0";
    /// Every column and every value, of padding too, is a load that no other lane shares.
    static work work_on_gpu(const matrix_stats& s) {
        work w = work_of_thread_a_row(s);
        w.sector_requests += 2 * double(s.group_width[0] * warp_rows);
        return w;
    }
    static constexpr kernel_hooks hooks{.work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(gpu, hll_row, V alpha, const hll_rows<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// Row-major on the GPU: one warp a row, the lanes' sums reduced by shuffles.
struct hll_warp : kernel_of<hll_rows> {
    static constexpr std::string_view name = "hll.warp";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, HLL kernel 1";
    static constexpr kernel_hooks hooks{.work_on_gpu = work_of_warp_a_row,
                                        .longest_row_on_gpu = longest_row_of_a_warp};
};
template <class V>
void spmv(gpu, hll_warp, V alpha, const hll_rows<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// Row-major on the GPU: one warp a row, the lanes' sums reduced by halves in shared memory, with
/// the whole block of threads waiting at every step as in the lecture.
struct hll_warp_shared : kernel_of<hll_rows> {
    static constexpr std::string_view name = "hll.warp_shared";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Calzetta and Lori 2025, HLL kernel 2";
    static constexpr kernel_hooks hooks{.work_on_gpu = work_of_warp_a_row,
                                        .longest_row_on_gpu = longest_row_of_a_warp};
};
template <class V>
void spmv(gpu, hll_warp_shared, V alpha, const hll_rows<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y);

}  // namespace nz
