#include "nonzero/formats/ell/ell.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/panel.hpp"

namespace nz {

template <class V, class S>
estimate ell<V, S>::cost(const matrix_stats& s) {
    const double width = double(s.max_row_nnz());
    return {.matrix_bytes = width * double(round_up_to_warp(s.rows)) * (sizeof(V) + sizeof(index)),
            .vector_bytes = vector_bytes<V>(s),
            .declined = declined_padding(width * double(s.rows), double(s.nnz))};
}

template <class V, class S>
ell<V, host> ell<V, S>::from(const csr<V, host_view>& A) {
    const auto length = [&](std::int64_t i) {
        return A.row_ptr[std::size_t(i) + 1] - A.row_ptr[std::size_t(i)];
    };
    return from(
        A, index(parallel_reduce(thread_count({}), A.shape.rows, offset(0), larger_of(), length)));
}

template <class V, class S>
ell<V, host> ell<V, S>::from(const csr<V, host_view>& A, index width) {
    if (width < 0) throw argument_error("ell: a negative width");
    const std::int64_t rows = A.shape.rows;
    const std::string declined =
        declined_padding(double(width) * double(rows), double(A.val.size()));
    if (!declined.empty()) throw argument_error("ell: " + declined);
    const offset pitch = round_up_to_warp(rows);
    const auto size = std::size_t(pitch) * std::size_t(width);
    ell<V, host> E{A.shape, width, pitch, host_vector<index>(size), host_vector<V>(size)};
    parallel_for(thread_count({}), pitch, [&](std::int64_t i) {
        const offset begin = i < rows ? A.row_ptr[std::size_t(i)] : 0;
        const offset end = i < rows ? A.row_ptr[std::size_t(i) + 1] : 0;
        for (offset k = 0; k < width; ++k) {
            const auto to = std::size_t(k * pitch + i), from = std::size_t(begin + k);
            const bool stored = begin + k < end;
            E.col_ind[to] = stored ? A.col_ind[from] : index(-1);
            E.val[to] = stored ? A.val[from] : V(0);
        }
    });
    return E;
}

namespace {

/// The rows [first, last) of y = alpha A x + beta y.
template <class V>
void multiply_rows(V alpha, const ell<V, host_view>& A, std::span<const V> x, V beta,
                   std::span<V> y, std::int64_t first, std::int64_t last) {
    const panel<V> all{A.col_ind.data(), A.val.data(), A.shape.rows, A.pitch, A.width};
    for_each_sum(all.slice(first, last), x.data(),
                 [to = y.data() + first, alpha, beta](auto r, V sum) {
                     to[r] = scaled(alpha, sum, beta, to[r]);
                 });
}

}  // namespace

template <class V>
void spmv(cpu, ell_serial, V alpha, const ell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_rows(alpha, A, x, beta, y, 0, A.shape.rows);
}

template <class V>
void spmv(cpu on, ell_row, V alpha, const ell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
        const range rows = share(A.shape.rows, threads, t);
        multiply_rows(alpha, A, x, beta, y, rows.first, rows.last);
    }
}

#define NZ_INSTANTIATE(V)                                                                   \
    template estimate ell<V, host>::cost(const matrix_stats&);                              \
    template ell<V, host> ell<V, host>::from(const csr<V, host_view>&);                     \
    template ell<V, host> ell<V, host>::from(const csr<V, host_view>&, index);              \
    template void spmv(cpu, ell_serial, V, const ell<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                       \
    template void spmv(cpu, ell_row, V, const ell<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
