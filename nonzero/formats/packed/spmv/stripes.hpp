// packed.stripes: the columns of a matrix in stripes, each packed by itself, for an x that no cache
// holds.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// Bytes of x that a stripe gathers from: a GPU's L2 cache answers 140 to 160 G loads a second from
/// up to 32 MB, 82 G from 64 MB and 46 G from 512 MB (H200, `gathers` in
/// bench/results/h200/machine.json).
inline constexpr std::int64_t stripe_bytes = std::int64_t(24) << 20;

/// How many stripes of equal width, but for the last, suit x of that many columns.
template <class V>
constexpr index stripes_for(std::int64_t columns) {
    return index((columns * std::int64_t(sizeof(V)) + stripe_bytes - 1) / stripe_bytes);
}

/// The columns [first, last) of A, of A's shape, in the order of A's rows. A's columns ascend.
/// Waits for the GPU. Throws device_error, and unavailable without CUDA.
template <class V>
csr<V, device> columns_between(gpu on, const csr<V, device_view>& A, index first, index last);

/// y = A x stripe by stripe, by packed.warp: x is gathered from a part that stays in L2, but y is
/// read and written once a stripe, and a row takes a place in every stripe. The stripes' sums are
/// added in order: the same bits in every run. A's columns ascend. Throws argument_error where
/// stripes < 1, and what packing throws.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_stripes(gpu on, const csr<V, device_view>& A,
                                                       index stripes);

/// Declines where x is shorter than two stripes.
template <class V>
estimate cost_of_stripes(const matrix_stats&);

/// As many stripes as suit A.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> suited_stripes(gpu on, const csr<V, device_view>& A,
                                                        const packed_analysis<V>*);

/// The method, whose kernel is packed.warp's. Only on GPUs, for real values.
struct packed_stripes : kernel_of<packed> {
    static constexpr std::string_view name = "packed.stripes";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Im, Yelick and Vuduc 2004, section 3, with packed.warp for each stripe";
    template <class V>
    static constexpr layout_hooks<V, packed> hooks_over{
        .cost = cost_of_stripes<V>,
        .operator_on_gpu = std::floating_point<V> ? &suited_stripes<V> : nullptr};
};

}  // namespace nz
