// The list of kernels, in two parts, whatever this build can run: the methods (registry.cpp) and
// the traces (kernel_trace.cpp) are made of it. A new kernel is its line here.
#pragma once

#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/layouts.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"

namespace nz {

template <class... K>
struct kernel_list {
    /// f.operator()<K>() for every kernel.
    template <class F>
    static void for_each(F f) {
        (f.template operator()<K>(), ...);
    }
    template <class L>
    static constexpr bool has = (std::is_same_v<K, L> || ...);
};

template <class... K, class... L>
constexpr kernel_list<K..., L...> operator+(kernel_list<K...>, kernel_list<L...>) {
    return {};
}

// One line a kernel, in one of two lists, by name.
// clang-format off
using planned_kernels = kernel_list<
    bsr_block,
    bsr_serial,
    coo_atomic,
    coo_segmented,
    coo_serial,
    csc_scatter,
    csc_serial,
    csr_adaptive_blocks,
    csr_balanced,
    csr_guided,
    csr_merge,
    csr_scalar,
    csr_serial,
    csr_static,
    csr_subwarp,
    csr_vector,
    dia_row,
    dia_serial,
    ell_row,
    ell_serial,
    hll_column,
    hll_column_guided,
    hll_column_serial,
    hll_row,
    hll_row_guided,
    hll_serial,
    hll_warp,
    hll_warp_shared,
    hyb_device,
    hyb_host_tail_trip,
    hyb_row,
    hyb_serial,
    icrs_row,
    icrs_row_32,
    icrs_serial,
    jds_row,
    jds_serial,
    jds_diagonals,
    jds_ell_sections,
    jds_ell_serial,
    packed_stripes,
    packed_warp,
    sell_chunk,
    sell_row,
    sell_serial>;

/// Kernels that are there to teach: estimates tell each from a planned one in nothing, and no plan
/// takes the second of two. Plans look at them where they name methods, or time them.
using teaching_kernels = kernel_list<
    csr_vector_ldg,
    csr_vector_shared,
    csr_vector_shared2d,
    csr_vector_texture,
    icrs_row_texture,
    icrs_row_texture_32>;
// clang-format on

using all_kernels = decltype(planned_kernels{} + teaching_kernels{});

}  // namespace nz
