// The column-major panel: the storage and the inner loop that five layouts share.
#pragma once

#include <algorithm>
#include <array>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/cost.hpp"
#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/formats/simd/simd.hpp"

namespace nz {

/// Rows side by side, stored column by column: entry k of row r is element k * pitch + r. A row
/// shorter than `width` ends in padding, column -1 and value 0.
///
/// ELL is one panel, HLL (column-major) one for each hack, SELL-C-sigma one for each chunk,
/// JDS-ELL one for each section, and ICRS one for each group of interleaved rows.
template <class V>
struct panel {
    const index* col_ind;
    const V* val;
    std::int64_t rows, pitch, width;

    /// The rows [first, last).
    [[nodiscard]] panel slice(std::int64_t first, std::int64_t last) const {
        const std::int64_t at = width > 0 ? first : 0;  // without entries there is no array
        return {col_ind + at, val + at, last - first, pitch, width};
    }
};

/// Rows of a panel that are summed at once: their sums stay in L1, and a long
/// stretch of every stored column is walked.
inline constexpr std::int64_t panel_rows = 256;

/// sums[r] += the product of row r with x, entry after entry, for every row of A; padding is left
/// out. Stored column after stored column, so that memory is walked in order. In plain C++.
template <class V>
void multiply_panel_plainly(const panel<V>& A, const V* x, V* sums) {
    for (std::int64_t k = 0; k < A.width; ++k) {
        const index* const col_ind = A.col_ind + k * A.pitch;
        const V* const val = A.val + k * A.pitch;
        for (std::int64_t r = 0; r < A.rows; ++r)
            if (col_ind[r] >= 0) sums[r] += product(val[r], x[col_ind[r]]);
    }
}

/// The same bits by the widest SIMD of this machine.
template <class V>
void multiply_panel(const panel<V>& A, const V* x, V* sums) {
    if constexpr (std::floating_point<V>)
        if (const auto loops = simd_panel_loops<V>(); !loops.empty())
            return loops.front()(A, x, sums);
    multiply_panel_plainly(A, x, sums);
}

/// f(r, the product of row r with x) for every row of A.
template <class V, class F>
void for_each_sum(const panel<V>& A, const V* x, F f) {
    std::array<V, panel_rows> sums;
    for (std::int64_t first = 0; first < A.rows; first += panel_rows) {
        const std::int64_t last = std::min(first + panel_rows, A.rows);
        std::fill_n(sums.begin(), last - first, V(0));
        multiply_panel(A.slice(first, last), x, sums.data());
        for (std::int64_t r = first; r < last; ++r) f(r, sums[std::size_t(r - first)]);
    }
}

/// f(r, column, value) for every entry of A, padding left out.
template <class V, class F>
void for_each_stored(const panel<V>& A, F f) {
    for (std::int64_t k = 0; k < A.width; ++k)
        for (std::int64_t r = 0; r < A.rows; ++r) {
            const std::int64_t at = k * A.pitch + r;
            if (A.col_ind[at] >= 0) f(r, A.col_ind[at], A.val[at]);
        }
}

/// Writes a panel whose row r is row row_of(r) of A, or padding only where that is -1.
template <class V, class F>
void fill_panel(const csr<V, host_view>& A, F row_of, std::int64_t rows, std::int64_t pitch,
                std::int64_t width, index* col_ind, V* val) {
    for (std::int64_t r = 0; r < rows; ++r) {
        const index i = row_of(r);
        const offset begin = i < 0 ? 0 : A.row_ptr[std::size_t(i)];
        const offset length = i < 0 ? 0 : A.row_ptr[std::size_t(i) + 1] - begin;
        for (std::int64_t k = 0; k < width; ++k) {
            const bool stored = k < length;
            col_ind[k * pitch + r] = stored ? A.col_ind[std::size_t(begin + k)] : index(-1);
            val[k * pitch + r] = stored ? A.val[std::size_t(begin + k)] : V(0);
        }
    }
}

/// Throws argument_error where `stored` elements for A are more than a padded layout may take;
/// builders call it before they allocate.
template <class V>
void check_padding(const char* layout, std::int64_t stored, const csr<V, host_view>& A) {
    const std::string declined = declined_padding(double(stored), double(A.val.size()));
    if (!declined.empty()) throw argument_error(std::string(layout) + ": " + declined);
}

/// The longest of the rows [first, last).
template <class V>
index longest_row(const csr<V, host_view>& A, std::int64_t first, std::int64_t last) {
    offset longest = 0;
    for (auto i = std::size_t(first); i < std::size_t(last); ++i)
        longest = std::max(longest, A.row_ptr[i + 1] - A.row_ptr[i]);
    return index(longest);
}

}  // namespace nz
