// Coordinate format (COO): every nonzero with its row and its column.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// Coordinates: row, column and value of every nonzero, sorted by rows, then columns.
///
///         | 1 . 2 |      row_ind = 0 0 1 2 2
///     A = | . 3 . |      col_ind = 0 2 1 0 2
///         | 4 . 5 |      val     = 1 2 3 4 5
///
/// Moves    nnz * (|V| + 8) bytes of matrix a product.
/// Suits    every matrix; work splits evenly whatever the row lengths are.
/// Source   CS121 2023, ECE408 2020; Bell and Garland, SC'09, doi:10.1145/1654059.1654078.
template <class V, class S>
struct coo {
    using value = V;
    using space = S;
    template <class T>
    using in_space = coo<V, T>;

    nz::shape shape;          ///< size of the matrix                   [rows x cols]
    array<index, S> row_ind;  ///< nnz, non-decreasing
    array<index, S> col_ind;  ///< nnz, ascending within a row
    array<V, S> val;          ///< nnz

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) { return std::tie(a.row_ind, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"row_ind", "col_ind", "val"};

    static estimate cost(const matrix_stats&);
    static coo<V, host> from(const csr<V, host_view>&);
};
static_assert(format<coo<double, host>>);

/// A piece is one entry.
template <class V>
std::int64_t piece_count(const coo<V, host_view>& A) {
    return std::int64_t(A.val.size());
}
template <class V, class F>
void for_each_entry(const coo<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (auto k = std::size_t(first); k < std::size_t(last); ++k)
        f(A.row_ind[k], A.col_ind[k], A.val[k]);
}

/// One thread, entry after entry.
struct coo_serial : kernel_of<coo> {
    static constexpr std::string_view name = "coo.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "ECE408 2020, lecture 19; PMPP chapter 10.4";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, coo_serial, V alpha, const coo<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// Equal numbers of entries to every thread; rows that a cut divides are summed in the order of
/// the threads. On the GPU a warp takes 512 entries, one a lane in every step, sums runs of one row
/// by a segmented scan, and a second kernel adds, in order, what rows share between warps. The
/// lecture's kernel stopped at rows within one warp.
struct coo_segmented : kernel_of<coo> {
    static constexpr std::string_view name = "coo.segmented";
    static constexpr bool deterministic = true;  // for one number of threads
    static constexpr std::string_view source = "CS121 2023; Bell and Garland, SC'09, section 4.4";
    /// Every entry tests whether its row is still the one before, a branch often mispredicted.
    static work work_on_cpu(const matrix_stats& s) {
        return {.work_units = 2.2 * double(s.nnz) + 5 * double(s.rows)};
    }
    /// On a GPU y is scaled, every warp takes 16 times 32 entries one after the other, with some
    /// ten exchanges between its lanes each time, and the carries are added.
    static work work_on_gpu(const matrix_stats& s) {
        constexpr double entries_a_warp = 512, units_of_warp = 67;
        return {.sector_requests = double(s.row_sectors),
                .work_units = double(s.nnz) / entries_a_warp * units_of_warp,
                .critical_units = units_of_warp,
                .launches = 3};
    }
    /// On the GPU: what each warp knows only in part.
    template <class V>
    static std::size_t scratch_bytes(gpu, const coo<V, device_view>& A);
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu, .work_on_gpu = work_on_gpu};
    template <class V>
    static constexpr layout_hooks<V, coo> hooks_over{.scratch_on_gpu = scratch_bytes<V>};
};
template <class V>
void spmv(cpu, coo_segmented, V alpha, const coo<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, coo_segmented, V alpha, const coo<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// One thread an entry, added to y by an atomic operation: the order of the sums, and so the last
/// bits, change from run to run.
struct coo_atomic : kernel_of<coo> {
    static constexpr std::string_view name = "coo.atomic";
    static constexpr bool deterministic = false;
    static constexpr std::string_view source = "CUDA C++ Programming Guide, atomic functions";
    /// Every entry is an addition to memory, and those of one row wait for each other.
    static work work_on_gpu(const matrix_stats& s) {
        return {.sector_requests = double(s.row_sectors + s.nnz),
                .work_units = double(s.nnz) / warp_rows * (units_of_a_warp + 2),
                .critical_units = units_of_a_warp + double(s.max_row_nnz()) / warp_rows,
                .launches = 2};
    }
    static std::string declined_on_gpu(const matrix_stats&);
    static constexpr kernel_hooks hooks{.work_on_gpu = work_on_gpu,
                                        .declined_on_gpu = declined_on_gpu};
};
template <class V>
void spmv(gpu, coo_atomic, V alpha, const coo<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

}  // namespace nz
