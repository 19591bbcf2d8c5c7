// Long rows, cut where a stripe of columns ends, for packed.stripes on a GPU: the stripes are so
// narrow that a multiprocessor's L1 holds the stripe's part of x.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// The rule by which rows are cut into segments. docs/experiments/packed.md tells what was tried.
struct segment_options {
    index columns;         ///< of a stripe
    index least_row = 64;  ///< shorter rows stay whole                                   [entries]
    index least_mean = 8;  ///< so do rows of shorter segments in the mean, or of fewer entries for
                           ///< each stripe from their first to their last                [entries]
    index least_gap = 8;   ///< so do rows with fewer columns for each entry
    index longest = 128;   ///< segment, which packing does not cut again                 [entries]

    /// Bytes of x that a multiprocessor gathers from: L1 answers 640 to 850 G loads a second from
    /// up to 128 KB, L2 160 G (H200, `gathers` in bench/results/h200/machine.json).
    static constexpr std::int64_t stripe_bytes = 128 << 10;
    template <class V>
    static constexpr segment_options suited_to() {
        return {.columns = index(stripe_bytes / std::int64_t(sizeof(V)))};
    }
};

/// The segments of long rows, as rows of a matrix of their own.
///
///         | a . b c . d |       stripes of 3 columns:    | a . b . . . |  0, of row 0
///     A = | . . e . . . |                                | . . . c . d |  1, of row 0
///
/// Segments ascend by their stripe, and within a stripe as their rows do. Multiprocessors take
/// equal parts of them, one segment after the other, so that each gathers from few stripes.
template <class V>
struct row_segments {
    packed<V, device> matrix;        ///< lists only
    device_array<unsigned> shares;   ///< the first chunk of every multiprocessor, and the end
    device_array<index> rows;        ///< the rows that are cut, ascending
    device_array<unsigned> numbers;  ///< for every row of A, the segments of the rows above
    device_array<unsigned> places;   ///< for every segment, row after row: its row of `matrix`
    std::int64_t entries;            ///< of A, in segments
};
/// A's columns ascend. known: the analysis of A, where there is one. The same for every run. Waits
/// for the GPU. Throws device_error, argument_error where there would be 2^32 segments, and
/// unavailable without CUDA.
template <class V>
row_segments<V> cut_by_stripes(gpu on, const csr<V, device_view>& A, const segment_options&,
                               const packed_analysis<V>* known);
/// The rows that are not cut, in A's shape.
template <class V>
csr<V, device> whole_rows(gpu on, const csr<V, device_view>& A, const row_segments<V>&);

/// y = alpha S x + beta y in the rows that are cut. on.scratch: an element of V a segment. A row's
/// segments are added in a fixed order.
template <class V>
void multiply_segments(gpu on, V alpha, const row_segments<V>& S, device_span<V> x, V beta,
                       device_out<V> y);

/// The product by segments of A, and by packed.warp of the rows that are whole. cut_s: what cutting
/// took, a part of the setup  [s]. known: as cut_by_stripes takes it.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_segments(gpu on, const csr<V, device_view>& A,
                                                        row_segments<V>&&, double cut_s,
                                                        const packed_analysis<V>* known);

}  // namespace nz
