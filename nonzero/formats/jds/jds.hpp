// Jagged diagonal storage (JDS): rows sorted by length, in two orders of storage.
#pragma once

#include <algorithm>

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"

namespace nz {

/// JDS, row layout: CSR of the rows sorted by length, longest first, equally long ones as they
/// stood, so that neighbouring threads, one per row, do nearly the same work.
///
///         | 1 . 2 |      perm    = 0 2 1
///     A = | . 3 . |      row_ptr = 0   2   4 5
///         | 4 . 5 |      col_ind = 0 2 0 2 1
///                        val     = 1 2 4 5 3
///
/// Moves    nnz * (|V| + 4) + rows * 8 bytes of matrix a product (4 more a row past 2^31).
/// Suits    every matrix: nothing is padded.
/// Source   ECE408 2020, lecture 19, JDS.
template <class V, class S>
struct jds {
    using value = V;
    using space = S;
    template <class T>
    using in_space = jds<V, T>;

    nz::shape shape;           ///< size of the matrix                             [rows x cols]
    array<index, S> perm;      ///< rows: the row of A that stands here
    array<offset, S> row_ptr;  ///< rows + 1: where each sorted row's entries start
    array<index, S> col_ind;   ///< nnz, ascending within a row
    array<V, S> val;           ///< nnz

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) { return std::tie(a.perm, a.row_ptr, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"perm", "row_ptr", "col_ind", "val"};

    static estimate cost(const matrix_stats&);
    static jds<V, host> from(const csr<V, host_view>&);
};
static_assert(format<jds<double, host>>);

/// JDS, transposed layout: the first entries of all sorted rows, then their second entries, and
/// so on: jagged diagonals, each as long as there are rows that reach it. Neighbouring threads,
/// one per row, read neighbouring addresses, and nothing is padded.
///
///         | 1 . 2 |      perm    = 0 2 1
///     A = | . 3 . |      jd_ptr  = 0     3   5
///         | 4 . 5 |      col_ind = 0 0 1 2 2
///                        val     = 1 4 3 2 5
///
/// Moves    nnz * (|V| + 4) + rows * 4 bytes of matrix a product, and jd_ptr.
/// Suits    every matrix: nothing is padded.
/// Source   ECE408 2020, lecture 19, JDS with transposed layout; Saad 2003, section 3.4.
template <class V, class S>
struct jds_transposed {
    using value = V;
    using space = S;
    template <class T>
    using in_space = jds_transposed<V, T>;

    nz::shape shape;          ///< size of the matrix                              [rows x cols]
    array<index, S> perm;     ///< rows: the row of A that stands here
    array<offset, S> jd_ptr;  ///< diagonals + 1: where each starts, and the end of the last
    array<index, S> col_ind;  ///< nnz; entry k of sorted row r is element jd_ptr[k] + r
    array<V, S> val;          ///< nnz

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) { return std::tie(a.perm, a.jd_ptr, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"perm", "jd_ptr", "col_ind", "val"};

    static estimate cost(const matrix_stats&);
    static jds_transposed<V, host> from(const csr<V, host_view>&);
};
static_assert(format<jds_transposed<double, host>>);

/// A piece is a sorted row.
template <class V>
std::int64_t piece_count(const jds<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const jds<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (auto r = std::size_t(first); r < std::size_t(last); ++r)
        for (auto k = std::size_t(A.row_ptr[r]); k < std::size_t(A.row_ptr[r + 1]); ++k)
            f(A.perm[r], A.col_ind[k], A.val[k]);
}

/// A piece is a sorted row; several are walked diagonal by diagonal.
template <class V>
std::int64_t piece_count(const jds_transposed<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const jds_transposed<V, host_view>& A, std::int64_t first, std::int64_t last,
                    F f) {
    for (std::size_t d = 0; d + 1 < A.jd_ptr.size(); ++d) {
        const offset start = A.jd_ptr[d], rows = A.jd_ptr[d + 1] - start;
        if (rows <= first) return;
        for (std::int64_t r = first; r < std::min(last, rows); ++r)
            f(A.perm[std::size_t(r)], A.col_ind[std::size_t(start + r)],
              A.val[std::size_t(start + r)]);
    }
}

/// One thread, one sorted row after the other.
struct jds_serial : kernel_of<jds> {
    static constexpr std::string_view name = "jds.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "ECE408 2020, lecture 19, SpMV/JDS";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, jds_serial, V alpha, const jds<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// One run of sorted rows a CPU thread, of equal nonzeros up to one row; on the GPU one thread a
/// sorted row, not coalesced.
struct jds_row : kernel_of<jds> {
    static constexpr std::string_view name = "jds.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "ECE408 2020, lecture 19, SpMV/JDS";
    /// No row's end is guessed wrong; every y is found through perm.
    static work work_on_cpu(const matrix_stats& s) {
        return {.sector_requests = double(s.nnz + s.rows),
                .work_units = 1.4 * double(s.nnz) + 4 * double(s.rows),
                .critical_units = double(s.max_row_nnz())};
    }
    /// As csr.scalar; a warp's rows are as long as each other, and written where they belong.
    static work work_on_gpu(const matrix_stats& s) {
        work w = thread_a_row_work(s, double(s.nnz) / warp_rows, double(s.max_row_nnz()),
                                   unrolled_units);
        w.sector_requests += 2 * double(s.nnz) + double(s.rows);
        return w;
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(cpu, jds_row, V alpha, const jds<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, jds_row, V alpha, const jds<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// Transposed layout: blocks of sorted rows are dealt out to the threads in turn, which shares the
/// work evenly as neighbouring blocks are about equally long; a block walks the diagonals.
struct jds_diagonals : kernel_of<jds_transposed> {
    static constexpr std::string_view name = "jds.transposed";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "ECE408 2020, lecture 19, JDS with transposed layout";
    /// Sums lie in memory, and of every entry it is asked whether its diagonal goes on.
    static work work_on_cpu(const matrix_stats& s) {
        return {.sector_requests = double(s.nnz + s.rows), .work_units = 3 * double(s.nnz)};
    }
    /// Of every four diagonals their bounds, then the entries, then x.
    static work work_on_gpu(const matrix_stats& s) {
        work w = thread_a_row_work(s, double(s.nnz) / warp_rows, double(s.max_row_nnz()), 0.75);
        w.sector_requests += double(s.rows);  // y, written where the row belongs
        return w;
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(cpu, jds_diagonals, V alpha, const jds_transposed<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y);
template <class V>
void spmv(gpu, jds_diagonals, V alpha, const jds_transposed<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y);

}  // namespace nz
