#include "nonzero/formats/csc/csc.hpp"

#include "nonzero/formats/csr/kernels.hpp"

namespace nz {

template <class V, class S>
estimate csc<V, S>::cost(const matrix_stats& s) {
    const double nnz = double(s.nnz);
    return {
        .matrix_bytes = nnz * (sizeof(V) + sizeof(index)) + offset_bytes(double(s.cols) + 1, nnz),
        .vector_bytes = vector_bytes<V>(s),
        .x_bytes = double(s.rows) * sizeof(V)};  // y is what entries are added to in no order
}

template <class V, class S>
csc<V, host> csc<V, S>::from(const csr<V, host_view>& A) {
    csr<V, host> T = transposed(cpu{}, A);
    return {A.shape, std::move(T.row_ptr), std::move(T.col_ind), std::move(T.val)};
}

namespace {

/// The columns [first, last) of y = alpha op(A) x + beta y, op transposing.
template <class V, class P>
void multiply_columns(const P* col_ptr, transposition op, V alpha, const csc<V, host_view>& A,
                      std::span<const V> x, V beta, std::span<V> y, std::int64_t first,
                      std::int64_t last) {
    const index* const row_ind = A.row_ind.data();
    const V* const val = A.val.data();
    for (std::int64_t j = first; j < last; ++j) {
        V sum(0);
        for (P k = col_ptr[j]; k < col_ptr[j + 1]; ++k)
            sum += product(conjugated(op, val[k]), x[std::size_t(row_ind[k])]);
        y[std::size_t(j)] = scaled(alpha, sum, beta, y[std::size_t(j)]);
    }
}

}  // namespace

template <class V>
void spmv(cpu, csc_serial, V alpha, const csc<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    for (V& v : y) v = beta == V(0) ? V(0) : product(beta, v);
    for_each_entry(A, 0, piece_count(A), [&](index i, index j, V v) {
        y[std::size_t(i)] += product(alpha, product(v, x[std::size_t(j)]));
    });
}

template <class V>
void spmv_transposed(cpu, csc_serial, transposition op, V alpha, const csc<V, host_view>& A,
                     std::span<const V> x, V beta, std::span<V> y) {
    A.col_ptr.visit([&](const auto* col_ptr) {
        multiply_columns(col_ptr, op, alpha, A, x, beta, y, 0, A.shape.cols);
    });
}

template <class V>
void spmv(cpu on, csc_scatter, V alpha, const csc<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    scatter(on, transposition::plain, alpha, A, x, beta, y);
}

template <class V>
void spmv_transposed(cpu on, csc_scatter, transposition op, V alpha, const csc<V, host_view>& A,
                     std::span<const V> x, V beta, std::span<V> y) {
    const int threads = thread_count(on);
    const std::int64_t cols = A.shape.cols;
    A.col_ptr.visit([&](const auto* col_ptr) {
        // The first column that starts at or after the share of nonzeros of thread t.
        const auto first_column = [&](int t) -> std::int64_t {
            if (t == 0) return 0;
            if (t == threads) return cols;
            const offset target = share(offset(A.val.size()), threads, t).first;
            return std::lower_bound(col_ptr, col_ptr + cols, target) - col_ptr;
        };
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            multiply_columns(col_ptr, op, alpha, A, x, beta, y, first_column(t),
                             first_column(t + 1));
    });
}

#define NZ_INSTANTIATE(V)                                                                       \
    template estimate csc<V, host>::cost(const matrix_stats&);                                  \
    template csc<V, host> csc<V, host>::from(const csr<V, host_view>&);                         \
    template void spmv(cpu, csc_serial, V, const csc<V, host_view>&, std::span<const V>, V,     \
                       std::span<V>);                                                           \
    template void spmv(cpu, csc_scatter, V, const csc<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);                                                           \
    template void spmv_transposed(cpu, csc_serial, transposition, V, const csc<V, host_view>&,  \
                                  std::span<const V>, V, std::span<V>);                         \
    template void spmv_transposed(cpu, csc_scatter, transposition, V, const csc<V, host_view>&, \
                                  std::span<const V>, V, std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
