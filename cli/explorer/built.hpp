// A layout with the parameters that a user wants to see it with.
#pragma once

#include <string>
#include <vector>

#include "nonzero/formats/layouts.hpp"

namespace nz::cli {

/// A number of 0 stands for the format's default.
struct layout_options {
    index block_side = 0, chunk = 0, hack = 0, interleave = 0, sort_scope = 0, split_width = 0;
    double least_fill = sectioning{}.least_fill;
};

inline index or_default(index given, index otherwise) { return given > 0 ? given : otherwise; }

/// The layout of A, as its own `from` makes it; by the options' numbers where it takes some.
template <class V, template <class, class> class L>
L<V, host> built(layout_tag<L>, const csr<V, host_view>& A, const layout_options&) {
    return L<V, host>::from(A);
}
template <class V>
bsr<V, host> built(layout_tag<bsr>, const csr<V, host_view>& A, const layout_options& o) {
    return o.block_side > 0 ? bsr<V, host>::from(A, o.block_side, o.block_side)
                            : bsr<V, host>::from(A);
}
template <class V>
hll<V, host> built(layout_tag<hll>, const csr<V, host_view>& A, const layout_options& o) {
    return hll<V, host>::from(A, or_default(o.hack, hll<V, host>::default_hack_size));
}
template <class V>
hll_rows<V, host> built(layout_tag<hll_rows>, const csr<V, host_view>& A, const layout_options& o) {
    return hll_rows<V, host>::from(A, or_default(o.hack, hll_rows<V, host>::default_hack_size));
}
template <class V>
hyb<V, host> built(layout_tag<hyb>, const csr<V, host_view>& A, const layout_options& o) {
    return o.split_width > 0 ? hyb<V, host>::from(A, o.split_width) : hyb<V, host>::from(A);
}
template <class V>
icrs<V, host> built(layout_tag<icrs>, const csr<V, host_view>& A, const layout_options& o) {
    const index all = std::clamp(A.shape.rows, 1, icrs<V, host>::default_interleave);
    return icrs<V, host>::from(A, or_default(o.interleave, all));
}
template <class V>
jds_ell<V, host> built(layout_tag<jds_ell>, const csr<V, host_view>& A, const layout_options& o) {
    return jds_ell<V, host>::from(A, {.least_fill = o.least_fill});
}
template <class V>
sell<V, host> built(layout_tag<sell>, const csr<V, host_view>& A, const layout_options& o) {
    const index all = std::clamp(A.shape.rows, 1, sell<V, host>::default_chunk);
    return sell<V, host>::from(A, or_default(o.chunk, all),
                               or_default(o.sort_scope, matrix_stats::sort_scope));
}

/// The options of the command that a layout takes.
std::vector<std::string> options_of(const std::string& layout);
/// Whether one of them has another number than its default.
bool is_given(const std::string& layout, const layout_options& o);

}  // namespace nz::cli
