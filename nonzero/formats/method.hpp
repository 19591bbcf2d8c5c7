// What a kernel is and what it may declare of itself. A method is a kernel over its layout.
#pragma once

#include <concepts>
#include <string_view>

#include "nonzero/core/format.hpp"

namespace nz {

/// A kernel K (an empty tag that names itself, its layout and its source) runs on backend B for
/// values V: some header declares spmv(B, K, ...). Nothing else says so.
///
/// What every kernel keeps: y = alpha A x + beta y, with y not read where beta is zero and
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

/// What a kernel's tag may declare in addition to its name, its source and whether it is
/// deterministic: `static constexpr kernel_hooks hooks{.one_thread = true}`. A misspelt name here
/// does not compile, nor does a hook without its function or a function without its hook
/// (formats/method_row.hpp).
struct kernel_hooks {
    bool one_thread = false;      ///< on a CPU it takes one thread, whatever the backend has
    bool synchronises = false;    ///< on a GPU its product waits: no CUDA graph can hold it
    bool complex_on_gpu = false;  ///< its GPU kernel exists for complex values too
    bool x_by_texture = false;    ///< on a GPU it reads x by texture, which limits x's length
    bool many_on_cpu = false;     ///< a CPU's for several vectors at once (spmv_many)
    bool many_on_gpu = false;     ///< a GPU's
    bool packs = false;           ///< build also takes what analyse_for_packing found

    // Functions of the tag, named as the hook:
    bool work_on_cpu = false;         ///< work (const matrix_stats&)
    bool work_on_gpu = false;         ///< work (const matrix_stats&)
    bool longest_row_on_gpu = false;  ///< int64_t (const matrix_stats&): it declines longer ones
    bool declined_on_gpu = false;     ///< string (const matrix_stats&): why it declines, or empty
    bool cost = false;                ///< estimate <V>(const matrix_stats&), not the layout's
    bool from = false;                ///< the layout (const csr<V, host_view>&), not its own `from`
    bool build = false;          ///< the layout, made on the GPU, of a CSR that lies in its memory
    bool refill = false;         ///< bool (gpu, A, layout&): new values into it, on the GPU
    bool scratch_bytes = false;  ///< size_t (on, A): scratch memory of a product
    bool scratch_for_many = false;  ///< size_t (gpu, A, X): what makes spmv_many faster, or 0
};

/// What a kernel's tag derives from to say which layout it reads.
template <template <class, class> class L>
struct kernel_of {
    template <class V, class S>
    using layout = L<V, S>;
    static constexpr kernel_hooks hooks{};
};

}  // namespace nz
