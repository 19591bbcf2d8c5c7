// Which elements of a layout say where an entry is: what a reader must know to find it, beside its
// own value and column. `at` is the entry's place among the values.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "nonzero/formats/layouts.hpp"

namespace nz::cli {

struct place {
    std::string_view array;
    std::int64_t element;
};
using places = std::vector<place>;

/// Layouts whose values stand beside both numbers, or lie so that their place tells them.
template <class F>
places places_of(const F&, index, index, std::int64_t) {
    return {};
}
template <class V>
places places_of(const csr<V, host_view>&, index i, index, std::int64_t) {
    return {{"row_ptr", i}, {"row_ptr", i + 1}};
}
template <class V>
places places_of(const csc<V, host_view>&, index, index j, std::int64_t) {
    return {{"col_ptr", j}, {"col_ptr", j + 1}};
}
template <class V>
places places_of(const bsr<V, host_view>& A, index i, index, std::int64_t at) {
    const std::int64_t block = at / (std::int64_t(A.block_rows) * A.block_cols);
    const index row = i / A.block_rows;
    return {{"block_row_ptr", row},
            {"block_row_ptr", row + 1},
            {"block_col_ind", block},
            {"stored", block}};
}
template <class V>
places places_of(const dia<V, host_view>& A, index, index, std::int64_t at) {
    return {{"offsets", at / A.pitch}, {"stored", at / warp_rows}};
}
template <class V, storage_order O>
places places_of(const hacked_ell<V, host_view, O>& A, index i, index, std::int64_t) {
    return {{"hack_ptr", i / A.hack_size}, {"max_nnz", i / A.hack_size}};
}
template <class V>
places places_of(const icrs<V, host_view>&, index i, index, std::int64_t) {
    return {{"row_count", i}, {"row_start", i}};
}

/// Where row i stands among the sorted ones.
inline std::int64_t sorted_place(std::span<const index> perm, index i) {
    return std::find(perm.begin(), perm.end(), i) - perm.begin();
}
/// The last part that begins at `at` or before it.
template <class Starts>
std::int64_t part_of(const Starts& starts, std::int64_t at) {
    std::int64_t part = 0;
    while (part + 2 < std::int64_t(starts.size()) && starts[std::size_t(part) + 1] <= at) ++part;
    return part;
}

template <class V>
places places_of(const jds<V, host_view>& A, index i, index, std::int64_t) {
    const std::int64_t r = sorted_place(A.perm, i);
    return {{"perm", r}, {"row_ptr", r}, {"row_ptr", r + 1}};
}
template <class V>
places places_of(const jds_transposed<V, host_view>& A, index i, index, std::int64_t at) {
    const std::int64_t diagonal = part_of(A.jd_ptr, at);
    return {{"perm", sorted_place(A.perm, i)}, {"jd_ptr", diagonal}, {"jd_ptr", diagonal + 1}};
}
template <class V>
places places_of(const jds_ell<V, host_view>& A, index i, index, std::int64_t) {
    const std::int64_t r = sorted_place(A.perm, i), section = part_of(A.section_ptr, r);
    return {{"perm", r},
            {"section_ptr", section},
            {"section_ptr", section + 1},
            {"section_width", section},
            {"section_start", section}};
}
template <class V>
places places_of(const sell<V, host_view>& A, index i, index, std::int64_t) {
    const std::int64_t r = sorted_place(A.perm, i), chunk = r / A.chunk;
    return {{"chunk_ptr", chunk}, {"chunk_width", chunk}, {"perm", r}};
}

}  // namespace nz::cli
