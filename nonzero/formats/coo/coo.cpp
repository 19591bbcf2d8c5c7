#include "nonzero/formats/coo/coo.hpp"

#include <array>

#include "nonzero/core/parallel.hpp"

namespace nz {

template <class V, class S>
estimate coo<V, S>::cost(const matrix_stats& s) {
    return {.matrix_bytes = double(s.nnz) * (sizeof(V) + 2 * sizeof(index)),
            .vector_bytes = vector_bytes<V>(s)};
}

template <class V, class S>
coo<V, host> coo<V, S>::from(const csr<V, host_view>& A) {
    coo<V, host> C{A.shape,
                   host_vector<index>(A.val.size()),
                   {A.col_ind.begin(), A.col_ind.end()},
                   {A.val.begin(), A.val.end()}};
    parallel_for(thread_count({}), A.shape.rows, [&](std::int64_t i) {
        for (offset k = A.row_ptr[std::size_t(i)]; k < A.row_ptr[std::size_t(i) + 1]; ++k)
            C.row_ind[std::size_t(k)] = index(i);
    });
    return C;
}

namespace {

/// y = beta y, where y is not read for beta = 0.
template <class V>
void scale(cpu on, V beta, std::span<V> y) {
    if (beta == V(1)) return;
    const auto rows = std::int64_t(y.size());
#pragma omp parallel for schedule(static) num_threads(thread_count(on))
    for (std::int64_t i = 0; i < rows; ++i)
        y[std::size_t(i)] = beta == V(0) ? V(0) : product(beta, y[std::size_t(i)]);
}

/// The entries [first, last): f(row, sum) for each run of one row.
template <class V, class F>
void sum_runs(const coo<V, host_view>& A, std::span<const V> x, std::int64_t first,
              std::int64_t last, F f) {
    for (auto k = std::size_t(first); k < std::size_t(last);) {
        const index row = A.row_ind[k];
        V sum(0);
        for (; k < std::size_t(last) && A.row_ind[k] == row; ++k)
            sum += product(A.val[k], x[std::size_t(A.col_ind[k])]);
        f(row, sum);
    }
}

}  // namespace

template <class V>
void spmv(cpu, coo_serial, V alpha, const coo<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    scale(cpu{1}, beta, y);
    sum_runs(A, x, 0, piece_count(A),
             [&](index row, V sum) { y[std::size_t(row)] += product(alpha, sum); });
}

template <class V>
void spmv(cpu on, coo_segmented, V alpha, const coo<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    struct carry {
        index row = -1;
        V sum = V(0);
    };
    const int threads = thread_count(on);
    std::array<carry, max_threads> carries;
    scale(on, beta, y);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
        const range part = share(piece_count(A), threads, t);
        // The row that the thread before is still in is not this thread's to write.
        const index shared = part.first > 0 && part.first < part.last
                                 ? A.row_ind[std::size_t(part.first) - 1]
                                 : index(-1);
        carry mine;
        sum_runs(A, x, part.first, part.last, [&](index row, V sum) {
            if (row == shared) {
                mine = {row, sum};
            } else {
                y[std::size_t(row)] += product(alpha, sum);
            }
        });
        carries[std::size_t(t)] = mine;
    }
    for (int t = 0; t < threads; ++t) {
        const auto& [row, sum] = carries[std::size_t(t)];
        if (row >= 0) y[std::size_t(row)] += product(alpha, sum);
    }
}

std::string coo_atomic::declined_on_gpu(const matrix_stats& s) {
    // Whole warps then add to one address, one lane after the other.
    constexpr std::int64_t longest_mean = 256;
    if (s.nnz <= longest_mean * s.rows) return {};
    return "rows of " + std::to_string(s.nnz / s.rows) +
           " entries in the mean would wait for each other's atomic additions";
}

#define NZ_INSTANTIATE(V)                                                                      \
    template estimate coo<V, host>::cost(const matrix_stats&);                                 \
    template coo<V, host> coo<V, host>::from(const csr<V, host_view>&);                        \
    template void spmv(cpu, coo_serial, V, const coo<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);                                                          \
    template void spmv(cpu, coo_segmented, V, const coo<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
