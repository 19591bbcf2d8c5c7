// Sectioned JDS-ELL: rows sorted by length, cut into sections, each an ELL of its own.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/method.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

/// How jds_ell cuts sorted rows into sections: a new one starts where rows get shorter than
/// `least_fill` times the section's first, and where empty rows start. So at least this part of
/// every section is nonzeros: 1 pads nothing and makes a section of every length that occurs, 0
/// makes one section of all rows that are not empty.
struct sectioning {
    double least_fill = 0.75;  ///< 0 to 1
};

/// Sectioned JDS-ELL: rows are sorted by length, longest first, and cut into sections of similar
/// length; each is padded to its first row and stored column by column. Empty rows are a last
/// section of width 0.
///
///         | 1 . 2 |      perm          = 0 2 1
///     A = | . 3 . |      section_ptr   = 0       2 3
///         | 4 . 5 |      section_width = 2       1
///                        section_start = 0       4 5
///                        col_ind       = 0 0 2 2 1       padding, of which there is none, is -1
///                        val           = 1 4 2 5 3
///
/// Moves    stored * (|V| + 4) + rows * 4 bytes of matrix a product, and a few a section; stored is
///          at most nnz / least_fill.
/// Suits    every matrix: with the default a quarter at most is padding. Never declines.
/// Source   PMPP chapter 10.5.
///
/// The sections are listed on the host, also where the rest is on a GPU, as the host launches them.
template <class V, class S>
struct jds_ell {
    using value = V;
    using space = S;
    template <class T>
    using in_space = jds_ell<V, T>;

    nz::shape shape;       ///< size of the matrix it stands for         [rows x cols]
    array<index, S> perm;  ///< rows: the row of A that stands here
    array<index, typename S::on_host> section_ptr;  ///< sections + 1: the first sorted row of each
    array<index, typename S::on_host>
        section_width;  ///< sections: entries stored per row [entries]
    array<offset, typename S::on_host>
        section_start;        ///< sections + 1: where each one's elements start
    array<index, S> col_ind;  ///< column-major in each section; -1 pads a row's end
    array<V, S> val;          ///< the same; 0 where col_ind is -1

    static auto scalars(auto& a) { return std::tie(a.shape); }
    static auto arrays(auto& a) {
        return std::tie(a.perm, a.section_ptr, a.section_width, a.section_start, a.col_ind, a.val);
    }
    static constexpr std::array scalar_names{"shape"};
    static constexpr std::array array_names{"perm",          "section_ptr", "section_width",
                                            "section_start", "col_ind",     "val"};

    static estimate cost(const matrix_stats&);
    static jds_ell<V, host> from(const csr<V, host_view>& A) { return from(A, {}); }
    /// Throws argument_error unless 0 <= least_fill <= 1, and where padding passes three times nnz.
    static jds_ell<V, host> from(const csr<V, host_view>&, sectioning);
};
static_assert(format<jds_ell<double, host>>);

/// f(panel, row) for every section's part of the sorted rows [first, last): row r of the panel is
/// row row[r] of the matrix.
template <class V, class F>
void for_each_section(const jds_ell<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for (std::size_t s = 0; s < A.section_width.size(); ++s) {
        const std::int64_t begin = A.section_ptr[s], end = A.section_ptr[s + 1];
        const std::int64_t from = std::max(begin, first), to = std::min(end, last);
        if (from >= to) continue;
        const panel<V> section{A.col_ind.data() + A.section_start[s],
                               A.val.data() + A.section_start[s], end - begin, end - begin,
                               A.section_width[s]};
        f(section.slice(from - begin, to - begin), A.perm.data() + from);
    }
}

/// A piece is a sorted row; several are walked section by section.
template <class V>
std::int64_t piece_count(const jds_ell<V, host_view>& A) {
    return A.shape.rows;
}
template <class V, class F>
void for_each_entry(const jds_ell<V, host_view>& A, std::int64_t first, std::int64_t last, F f) {
    for_each_section(A, first, last, [&](const panel<V>& part, const index* row) {
        for_each_stored(part, [&](std::int64_t r, index j, V v) { f(row[r], j, v); });
    });
}

/// One thread, section after section.
struct jds_ell_serial : kernel_of<jds_ell> {
    static constexpr std::string_view name = "jds_ell.serial";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "PMPP chapter 10.5";
    static constexpr kernel_hooks hooks{.one_thread = true};
};
template <class V>
void spmv(cpu, jds_ell_serial, V alpha, const jds_ell<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y);

/// One run of sorted rows a CPU thread, across sections, of equal stored elements and rows. On the
/// GPU one launch a section, one thread a row.
struct jds_ell_sections : kernel_of<jds_ell> {
    static constexpr std::string_view name = "jds_ell.sections";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "PMPP chapter 10.5";
    /// As other padded layouts, with y through perm, and runs of rows that end within sections.
    static work work_on_cpu(const matrix_stats& s) {
        work w = strided_work(double(s.nnz));
        w.sector_requests = double(s.nnz + s.rows), w.work_units += 4 * double(s.rows);
        return w;
    }
    static work work_on_gpu(const matrix_stats&);
    /// Sections run one after the other, and their widths, each three quarters of the one before,
    /// add up to four times the longest row.
    static std::int64_t longest_row_on_gpu(const matrix_stats&) { return longest_walk_on_gpu / 4; }
    static constexpr kernel_hooks hooks{.work_on_cpu = work_on_cpu,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_on_gpu};
};
template <class V>
void spmv(cpu, jds_ell_sections, V alpha, const jds_ell<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y);
template <class V>
void spmv(gpu, jds_ell_sections, V alpha, const jds_ell<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y);

}  // namespace nz
