// HYB with its COO part left on the host: the ELL on the GPU, the tail added by the CPU.
#pragma once

#include <string>

#include "nonzero/formats/hyb/hyb.hpp"

namespace nz {

/// hyb, whose `tail` stays in CPU memory when the rest goes to a GPU.
///
/// Moves    the bytes of its ELL on the GPU and of its tail on the CPU; a product also takes x and
///          y to the host and y back.
/// Suits    teaching: the round trip costs more than the tail would on the GPU.
/// Source   PMPP chapter 10.4.
template <class V, class S>
struct hyb_host_tail {
    using value = V;
    using space = S;
    template <class T>
    using in_space = hyb_host_tail<V, T>;

    nz::shape shape;    ///< size of the matrix                            [rows x cols]
    index split_width;  ///< entries of a row that go to the ELL, at most
    nz::ell<V, S> ell;  ///< of the same shape
    nz::coo<V, typename S::on_host> tail;  ///< of the same shape

    static auto scalars(auto& a) {
        return std::tuple_cat(std::tie(a.shape, a.split_width), a.ell.scalars(a.ell),
                              a.tail.scalars(a.tail));
    }
    static auto arrays(auto& a) {
        return std::tuple_cat(a.ell.arrays(a.ell), a.tail.arrays(a.tail));
    }
    static constexpr auto scalar_names = hyb<V, S>::scalar_names;
    static constexpr auto array_names = hyb<V, S>::array_names;

    static estimate cost(const matrix_stats& s) { return hyb<V, host>::cost(s); }
    static hyb_host_tail<V, host> from(const csr<V, host_view>& A) {
        hyb<V, host> H = hyb<V, host>::from(A);
        return {H.shape, H.split_width, std::move(H.ell), std::move(H.coo)};
    }
};

/// ell.row on the GPU, y to the host, coo.serial on the host, y back. It waits for the GPU by its
/// nature and so cannot be captured in a CUDA graph.
struct hyb_host_tail_trip : kernel_of<hyb_host_tail> {
    static constexpr std::string_view name = "hyb.host_tail";
    static constexpr bool deterministic = true;
    static constexpr std::string_view source = "PMPP chapter 10.4";
    static std::string declined_on_gpu(const matrix_stats&);
    static work work_on_gpu(const matrix_stats&);
    static constexpr kernel_hooks hooks{.synchronises = true,
                                        .work_on_gpu = work_on_gpu,
                                        .longest_row_on_gpu = longest_row_of_a_thread,
                                        .declined_on_gpu = declined_on_gpu};
};
template <class V>
void spmv(gpu, hyb_host_tail_trip, V alpha, const hyb_host_tail<V, device_view>& A,
          device_span<V> x, V beta, device_out<V> y);

}  // namespace nz
