// Other libraries' products as methods, defined for cli/peer_methods.hpp: nz bench --peers times
// them on the same arrays, in the same process. Built with -DNONZERO_PEERS=ON only.
#pragma once

#include <vector>

#include "cli/peer_methods.hpp"
#include "nonzero/core/arithmetic.hpp"

namespace nz::peers {

/// Eigen's row-major sparse matrix over our arrays, 32-bit row pointers. On several threads it
/// shares rows out dynamically, through OpenMP.
template <class V>
method<V> eigen_csr();

/// As MAJOR.MINOR.PATCH, here and below.
std::string eigen_version();

#if defined(NZ_WITH_MKL)
/// MKL's inspector-executor: a handle over our arrays, told to expect many products, optimised.
template <class V>
method<V> mkl_csr();
std::string mkl_version();
#endif

#if defined(NZ_AOCL_SPARSE)
/// AOCL-Sparse: a handle over our arrays, told to expect many products, optimised. Real values.
template <class V>
method<V> aocl_csr();
std::string aocl_version();
#endif

#if defined(NZ_WITH_CUSPARSE)
/// cuSPARSE's algorithms for y = A x, each over its own format, after its own preprocessing. On a
/// GPU only. Real values.
template <class V>
std::vector<method<V>> cusparse_methods();
/// cuSPARSE's algorithms for Y = A X over CSR, each after its own preprocessing for as many vectors
/// in that order. On a GPU only. Real values.
template <class V>
std::vector<method<V>> cusparse_spmm_methods();
std::string cusparse_version();
#endif

#if defined(NZ_WITH_CUSPARSE_SPMVOP)
/// cuSPARSE's experimental SpMVOp over CSR by its two algorithms, each with a plan of its own. On a
/// GPU only. Real values.
template <class V>
std::vector<method<V>> cusparse_spmvop_methods();
#endif

/// Cost of a baseline over CSR: CSR's bytes, or that its row pointers are too narrow for the
/// matrix.
template <class V>
estimate narrow_csr_cost(const matrix_stats& s) {
    if (s.nnz > offset_vector::max_narrow) return {.declined = "row pointers take 32 bits here"};
    return csr<V, host>::cost(s);
}

/// A's row pointers, as peers take them. Throws argument_error where they are wide.
template <class V>
const std::int32_t* narrow_row_ptr(const csr<V, host_view>& A) {
    if (A.row_ptr.wide()) throw argument_error("peers: row_ptr is 64 bits wide, expected 32");
    return static_cast<const std::int32_t*>(A.row_ptr.data());
}

/// The half of an operator that no bench needs.
template <class V>
class plain_operator : public linear_operator<V, cpu> {
  public:
    explicit plain_operator(const csr<V, host_view>& A) : A_(A) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape; }
    [[nodiscard]] std::size_t bytes() const override { return nz::bytes(A_); }

  protected:
    void multiply_transposed(transposition, V, std::span<const V>, V, std::span<V>) const override {
        throw unavailable("peers: only products with A itself");
    }
    void scale(V beta, std::span<V> y) const override {
        for (V& v : y) v = beta == V(0) ? V(0) : product(beta, v);
    }
    csr<V, host_view> A_;
};

/// The row of a peer: no source but its own, no transposed product, the CPU only.
template <class V>
method<V> peer_row(std::string_view name, std::string_view source,
                   typename method<V>::template builder<cpu> build) {
    method<V> m{};
    m.name = name, m.source = source, m.deterministic = true;
    m.cost = narrow_csr_cost<V>;
    m.exists_on_cpu = true, m.on_cpu = build;
    return m;
}

}  // namespace nz::peers
