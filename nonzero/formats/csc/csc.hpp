// Compressed sparse column (CSC): CSR of the transposed matrix, for products with it.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/scatter.hpp"

namespace nz {

/// Compressed sparse column: the nonzeros column after column, and where each column starts.
///
///         | 1 . 2 |      col_ptr = 0   2 3   5
///     A = | . 3 . |      row_ind = 0 2 1 0 2
///         | 4 . 5 |      val     = 1 4 3 2 5
///
/// Moves    nnz * (|V| + 4) + (cols + 1) * 4 bytes of matrix a product (8 a column past 2^31
///          nonzeros).
/// Suits    products with A^T and A^H, which are dot products here; A x has to scatter.
/// Source   Saad 2003, section 3.4.
template <class V, class S>
struct csc {
    using value = V;
    using space = S;
    template <class T>
    using in_space = csc<V, T>;

    nz::shape shape;           ///< size of the matrix                             [rows x cols]
    array<offset, S> col_ptr;  ///< cols + 1; column j is [col_ptr[j], col_ptr[j+1])
    array<index, S> row_ind;   ///< nnz, ascending within a column
    array<V, S> val;           ///< nnz

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) { return std::tie(a.col_ptr, a.row_ind, a.val); }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"col_ptr", "row_ind", "val"};

    static estimate cost(const matrix_stats&);
    static csc<V, host> from(const csr<V, host_view>&);
};
static_assert(format<csc<double, host>>);

/// A piece is one column.
template <class V>
std::int64_t piece_count(const csc<V, host_view>& A) {
    return A.shape.cols;
}
template <class V, class F>
void for_each_entry(const csc<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (auto j = std::size_t(first); j < std::size_t(last); ++j)
        for (auto k = std::size_t(A.col_ptr[j]); k < std::size_t(A.col_ptr[j + 1]); ++k)
            f(A.row_ind[k], index(j), A.val[k]);
}

/// One thread adds column after column into y; the transposed product is one dot product a column.
struct csc_serial : kernel_of<csc> {
    static constexpr std::string_view name = "csc.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "Saad 2003, section 3.4";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, csc_serial, V alpha, const csc<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv_transposed(cpu, csc_serial, transposition op, V alpha, const csc<V, host_view>& A,
                     std::span<const V> x, V beta, std::span<V> y);

/// Equal numbers of columns to every thread, each adding into a y of its own. The transposed
/// product gives every thread columns of equal nonzeros and needs no scratch memory.
struct csc_scatter : kernel_of<csc> {
    static constexpr std::string_view name = "csc.scatter";
    static constexpr bool deterministic = true;  // for one number of threads
    static constexpr std::string_view source = "Saad 2003, section 3.4, with private copies of y";
    /// Every entry adds to an element of y, which is written first and summed up last.
    static work work_on_cpu(const matrix_stats& s) {
        return {.sector_requests = 2 * double(s.nnz + s.rows),
                .work_units = 3 * double(s.nnz) + 6 * double(s.rows),
                .launches = 3};
    }
    template <class V>
    static std::size_t scratch_bytes(cpu on, const csc<V, host_view>& A) {
        return scatter_scratch_bytes<V>(on, std::size_t(A.shape.rows));
    }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu};
    template <class V>
    static constexpr layout_hooks<V, csc> hooks_over{.scratch_on_cpu = scratch_bytes<V>};
};
template <class V>
void spmv(cpu, csc_scatter, V alpha, const csc<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y);
template <class V>
void spmv_transposed(cpu, csc_scatter, transposition op, V alpha, const csc<V, host_view>& A,
                     std::span<const V> x, V beta, std::span<V> y);

}  // namespace nz
