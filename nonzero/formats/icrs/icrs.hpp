// Interleaved compressed row storage (ICRS): CRS whose rows are interleaved in groups.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

/// Interleaved compressed rows: entry k of row i stands at row_start[i] + k * interleave, between
/// the entries k of the rows beside it, so that neighbouring threads, one per row, read
/// neighbouring addresses. Where a row is shorter than the longest of its group padding stands,
/// which a product never reads.
///
///         | 1 . 2 |      interleave = 2      row_count = 2 1 2
///     A = | . 3 . |                          row_start = 0 1 4
///         | 4 . 5 |      col_ind = 0 1 2 -   0 - 2 -      - is -1, padding
///                        val     = 1 3 2 0   4 0 5 0
///
/// Moves    interleave * the longest row of each group * (|V| + 4) + rows * 8 bytes of matrix a
/// product, padding included (rows * 12 where positions pass 2^31).
/// Suits    rows of nearly one length within a group; declines where padding passes 3 times nnz.
/// Source   Liebmann 2015.
template <class V, class S>
struct icrs {
    using value = V;
    using space = S;
    template <class T>
    using in_space = icrs<V, T>;

    nz::shape shape;             ///< size of the matrix it stands for             [rows x cols]
    index interleave;            ///< L: rows to a group, and from entry to entry         [rows]
    array<index, S> row_count;   ///< rows: entries of each (the count vector)
    array<offset, S> row_start;  ///< rows: where each one's first is (the displacement vector);
                                 ///< 4 bytes each where every position of an entry fits them
    array<index, S> col_ind;     ///< group after group; -1 for padding
    array<V, S> val;             ///< the same; 0 for padding

    static auto scalars(auto& a) { return std::tie(a.shape, a.interleave); }
    static auto arrays(auto& a) { return std::tie(a.row_count, a.row_start, a.col_ind, a.val); }
    static constexpr std::array scalar_names{"shape", "interleave"};
    static constexpr std::array array_names{"row_count", "row_start", "col_ind", "val"};

    static constexpr index default_interleave = 256;  ///< the lecture's L
    static estimate cost(const matrix_stats&);
    static icrs<V, host> from(const csr<V, host_view>& A) { return from(A, default_interleave); }
    /// Throws argument_error unless interleave >= 1, and where padding passes three times nnz.
    static icrs<V, host> from(const csr<V, host_view>&, index interleave);
};
static_assert(format<icrs<double, host>>);

/// A piece is a row.
template <class V>
std::int64_t piece_count(const icrs<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const icrs<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (auto i = std::size_t(first); i < std::size_t(last); ++i) {
        auto at = std::size_t(A.row_start[i]);
        for (index k = 0; k < A.row_count[i]; ++k, at += std::size_t(A.interleave))
            f(index(i), A.col_ind[at], A.val[at]);
    }
}

/// One thread, some rows of a group at a time.
struct icrs_serial : kernel_of<icrs> {
    static constexpr std::string_view name = "icrs.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Liebmann 2015";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, icrs_serial, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);

/// A plain loop over the row's own entries, one thread a row.
inline work icrs_work_on_gpu(const matrix_stats& s) {
    return thread_a_row_work(s, double(s.group_width[0]), double(s.max_row_nnz()), unrolled_units);
}

/// Equal numbers of rows to every CPU thread; one GPU thread a row, coalesced.
struct icrs_row : kernel_of<icrs> {
    static constexpr std::string_view name = "icrs.row";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Liebmann 2015, L = 256";
    static work work_on_cpu(const matrix_stats& s) {  // a row's entries are a group apart
        return {.work_units = 1.2 * double(s.nnz) + 8 * double(s.rows),
                .critical_units = double(s.max_row_nnz())};
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = icrs_work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(cpu, icrs_row, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, icrs_row, V alpha, const icrs<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// icrs.row over groups of 32 rows: less padding.
struct icrs_row_32 : kernel_of<icrs> {
    static constexpr std::string_view name = "icrs.row_32";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Liebmann 2015, with L = 32: 16 rows or more";
    static work work_on_cpu(const matrix_stats& s) {  // a row's entries are a group apart
        return {.work_units = 1.2 * double(s.nnz) + 8 * double(s.rows),
                .critical_units = double(s.max_row_nnz())};
    }

    template <class V>
    static icrs<V, host> from(const csr<V, host_view>& A) {
        return icrs<V, host>::from(A, 32);
    }
    template <class V>
    static estimate cost(const matrix_stats&);
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = icrs_work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
    template <class V>
    static constexpr layout_hooks<V, icrs> hooks_over{.cost = cost<V>, .from = from<V>};
};
template <class V>
void spmv(cpu, icrs_row_32, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv(gpu, icrs_row_32, V alpha, const icrs<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// icrs.row on the GPU with x through the texture units, as in the lecture but by a texture object
/// (core/gpu/texture.cuh says how doubles get through, and the size limit).
struct icrs_row_texture : kernel_of<icrs> {
    static constexpr std::string_view name = "icrs.row_texture";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Liebmann 2015, L = 256";
    static constexpr kernel_hooks hooks{.x_by_texture = true,
                                        .work_on_gpu = icrs_work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread};
};
template <class V>
void spmv(gpu, icrs_row_texture, V alpha, const icrs<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y);

/// icrs.row_texture over groups of 32 rows.
struct icrs_row_texture_32 : icrs_row_texture {
    static constexpr std::string_view name = "icrs.row_texture_32";
    static constexpr std::string_view source = icrs_row_32::source;

    template <class V>
    static icrs<V, host> from(const csr<V, host_view>& A) {
        return icrs_row_32::from(A);
    }
    template <class V>
    static estimate cost(const matrix_stats& s) {
        return icrs_row_32::cost<V>(s);
    }
    template <class V>
    static constexpr layout_hooks<V, icrs> hooks_over{.cost = cost<V>, .from = from<V>};
};
template <class V>
void spmv(gpu, icrs_row_texture_32, V alpha, const icrs<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y);

}  // namespace nz
