// Definition of a kernel, and properties it may declare. A method is a kernel over its layout.
#pragma once

#include <concepts>
#include <memory>
#include <string>
#include <string_view>

#include "nonzero/core/format.hpp"

namespace nz {

/// A kernel K (an empty tag that names itself, its layout and its source) runs on backend B for
/// values V: some header declares spmv(B, K, ...). Nothing else says so.
///
/// Contract of every kernel: y = alpha A x + beta y, with y not read where beta is zero and
/// padding never in a sum; no check, allocation, synchronisation, output or exception. alpha is
/// not zero: the operator at the border scales y alone then, without A or x.
template <class K, class B, class V = double>
concept runs_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                           in<V, B> x, out<V, B> y) {
    spmv(on, K{}, V(1), A, x, V(0), y);
};

/// The same for products with A^T and A^H.
template <class K, class B, class V = double>
concept runs_transposed_on = requires(B on,
                                      const typename K::template layout<V, typename B::view>& A,
                                      in<V, B> x, out<V, B> y) {
    spmv_transposed(on, K{}, transposition::transpose, V(1), A, x, V(0), y);
};

/// The same for products with several vectors: `spmv_many(on, K{}, alpha, A, X, beta, Y)`.
template <class K, class B, class V = double>
concept runs_many_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                                in_columns<V, B> X, out_columns<V, B> Y) {
    spmv_many(on, K{}, V(1), A, X, V(0), Y);
};

template <class V, class B>
class linear_operator;  // formats/linear_operator.hpp
/// The same for relaxations: `relax(on, K{}, how, A, X, Y)` tells whether it could.
template <class K, class B, class V = double>
concept relaxes_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                              const typename linear_operator<V, B>::relaxation& how,
                              in_columns<V, B> X, out_columns<V, B> Y) {
    { relax(on, K{}, how, A, X, Y) } -> std::same_as<bool>;
};

/// The same for products with an update: `spmv_fused(on, K{}, alpha, A, x, beta, y, with)`
/// tells whether it could, and product_parts(A) how many parts of (w, y) it gives.
template <class K, class B, class V = double>
concept fuses_on = requires(B on, const typename K::template layout<V, typename B::view>& A,
                            in<V, B> x, out<V, B> y,
                            const typename linear_operator<V, B>::fused_update& with) {
    { spmv_fused(on, K{}, V(1), A, x, V(0), y, with) } -> std::same_as<bool>;
    { product_parts(K{}, A) } -> std::same_as<std::size_t>;
};

template <class V>
class packed_analysis;  // formats/packed/packed.hpp
struct work;            // formats/cost.hpp

/// A tag's declarations beyond its name, its source and whether it is deterministic, whatever the
/// values: `static constexpr kernel_hooks hooks{.one_thread = true, .work_on_cpu = row_work}`. A
/// misspelt name does not compile.
struct kernel_hooks {
    bool one_thread = false;      ///< on a CPU it takes one thread, whatever the backend has
    bool synchronises = false;    ///< on a GPU its product waits: no CUDA graph can hold it
    bool complex_on_gpu = false;  ///< its GPU kernel exists for complex values too
    bool x_by_texture = false;    ///< on a GPU it reads x by texture, which limits x's length
    bool many_on_cpu = false;     ///< a CPU's for several vectors at once (spmv_many)
    bool many_on_gpu = false;     ///< a GPU's
    bool packs = false;           ///< build also takes what analyse_for_packing found

    work (*work_on_cpu)(const matrix_stats&) = nullptr;
    work (*work_on_gpu)(const matrix_stats&) = nullptr;
    /// The longest row that it does not decline.
    std::int64_t (*longest_row_on_gpu)(const matrix_stats&) = nullptr;
    /// Why it declines, or empty.
    std::string (*declined_on_gpu)(const matrix_stats&) = nullptr;
};

/// The declarations that depend on the value type and on the layout L:
/// `template <class V> static constexpr layout_hooks<V, icrs> hooks_over{.from = from_32<V>}`.
template <class V, template <class, class> class L>
struct layout_hooks {
    estimate (*cost)(const matrix_stats&) = nullptr;         ///< not the layout's own
    estimate (*cost_on_gpu)(const matrix_stats&) = nullptr;  ///< not the same
    L<V, host> (*from)(const csr<V, host_view>&) = nullptr;  ///< not the layout's own
    /// The layout, made on the GPU, of a CSR that lies in its memory.
    L<V, device> (*build)(gpu, const csr<V, device_view>&, const packed_analysis<V>*) = nullptr;
    /// New values into the layout, on the GPU; false where it must be built anew.
    bool (*refill)(gpu, const csr<V, device_view>&, L<V, device>&) = nullptr;
    /// Bytes of scratch memory that a product takes.
    std::size_t (*scratch_on_cpu)(cpu, const L<V, host_view>&) = nullptr;
    std::size_t (*scratch_on_gpu)(gpu, const L<V, device_view>&) = nullptr;
    /// Bytes that make spmv_many faster with these vectors, or 0.
    std::size_t (*scratch_for_many)(gpu, const L<V, device_view>&,
                                    const in_columns<V, gpu>&) = nullptr;
    /// Of a method that is no kernel over one layout: its operator, of a CSR on the CPU, and of one
    /// in GPU memory.
    std::unique_ptr<linear_operator<V, cpu>> (*operator_on_cpu)(cpu,
                                                                const csr<V, host_view>&) = nullptr;
    std::unique_ptr<linear_operator<V, gpu>> (*operator_on_gpu)(
        gpu, const csr<V, device_view>&, const packed_analysis<V>*) = nullptr;
};

/// Every kernel's tag derives from it, and says so which layout it reads.
template <template <class, class> class L>
struct kernel_of {
    template <class V, class S>
    using layout = L<V, S>;
    using over_layout = kernel_of;
    static constexpr kernel_hooks hooks{};
    template <class V>
    static constexpr layout_hooks<V, L> hooks_over{};
};

}  // namespace nz
