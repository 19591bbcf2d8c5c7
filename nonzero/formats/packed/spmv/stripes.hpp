// packed.stripes: the columns of a matrix in stripes, each packed by itself, for an x that no cache
// holds. On a GPU also rows cut by narrower stripes (striped_segments.hpp).
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/packed/packed.hpp"

namespace nz {

/// Bytes of x that a stripe gathers from on a GPU, whose L2 cache answers 140 to 160 G loads a
/// second from up to 32 MB, 82 G from 64 MB and 46 G from 512 MB (H200, `gathers` in
/// bench/results/h200/machine.json).
inline constexpr std::int64_t stripe_bytes = std::int64_t(24) << 20;

/// Number of stripes for x of that many columns on a GPU. All but the last are equally wide.
template <class V>
constexpr index stripes_for(gpu, std::int64_t columns) {
    return index((columns * std::int64_t(sizeof(V)) + stripe_bytes - 1) / stripe_bytes);
}
/// The same on a CPU: columns of a stripe take 16 bits each, and its doubles of x half a megabyte,
/// which a core's second-level cache holds.
template <class V>
constexpr index stripes_for(cpu, std::int64_t columns) {
    constexpr std::int64_t widest = max_delta16 / 8 * 8;
    return index((columns + widest - 1) / widest);
}

/// The columns [first, last) of A, of A's shape, in the order of A's rows. A's columns ascend.
/// Waits for the GPU. Throws device_error, and unavailable without CUDA.
template <class V>
csr<V, device> columns_between(gpu on, const csr<V, device_view>& A, index first, index last);

/// y = A x stripe by stripe, by packed.warp: x is gathered from a part that stays in a cache, but y
/// is read and written once a stripe, and a row takes a place in every stripe. The stripes' sums
/// are added in order: the same bits in every run, on a CPU for any number of threads. A's columns
/// ascend. Throws argument_error where stripes < 1, and what packing throws.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build_stripes(gpu on, const csr<V, device_view>& A,
                                                       index stripes);
template <class V>
std::unique_ptr<linear_operator<V, cpu>> build_stripes(cpu on, const csr<V, host_view>& A,
                                                       index stripes);

/// Declines where x is shorter than two stripes; on a GPU also where segments of long rows
/// (striped_segments.hpp) do not pay.
template <class V, class B>
estimate cost_of_stripes(const matrix_stats&);

/// As many stripes as suit A; on a GPU segments of long rows where these hold half of the entries,
/// or where L2 holds x.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> suited_stripes_on_gpu(gpu on, const csr<V, device_view>& A,
                                                               const packed_analysis<V>*);
template <class V>
std::unique_ptr<linear_operator<V, cpu>> suited_stripes(cpu on, const csr<V, host_view>& A);

/// The method, whose kernel is packed.warp's. On GPUs for real values only.
struct packed_stripes : kernel_of<packed> {
    static constexpr std::string_view name = "packed.stripes";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source =
        "Im, Yelick and Vuduc 2004, section 3, with packed.warp for each stripe";
    template <class V>
    static constexpr layout_hooks<V, packed> hooks_over{
        .cost = cost_of_stripes<V, cpu>,
        .cost_on_gpu = cost_of_stripes<V, gpu>,
        .operator_on_cpu = suited_stripes<V>,
        .operator_on_gpu = std::floating_point<V> ? &suited_stripes_on_gpu<V> : nullptr};
};

}  // namespace nz
