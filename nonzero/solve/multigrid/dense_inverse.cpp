#include "nonzero/solve/multigrid/dense_inverse.hpp"

#include <algorithm>
#include <limits>

namespace nz {
namespace {

/// Sweeps unknown k into rows of the n x n matrix a, of whose symmetry the lower triangle is kept.
/// column: that of k.
void sweep_row(double* row, std::int64_t i, std::int64_t k, const double* column) {
    const double pivot = column[k];
    if (i == k) {
        for (std::int64_t j = 0; j < k; ++j) row[j] = column[j] / pivot;
        row[k] = -1 / pivot;
        return;
    }
    const double f = column[i] / pivot;
    if (f == 0) return;
#pragma omp simd
    for (std::int64_t j = 0; j <= i; ++j) row[j] -= f * column[j];
    if (k < i) row[k] = f;
}

/// The lower triangle of minus the inverse, in place, without pivoting.
void invert(cpu on, host_vector<double>& a, std::int64_t n) {
    const auto at = [&](std::int64_t i, std::int64_t j) -> double& {
        return a[std::size_t(std::max(i, j) * n + std::min(i, j))];
    };
    host_vector<double> before(static_cast<std::size_t>(n)), column(before.size());
    for (std::int64_t k = 0; k < n; ++k) before[std::size_t(k)] = at(k, k);
    constexpr std::int64_t worth_threads = 1024;  // docs/decisions/threads.md
    const int threads = n < worth_threads ? 1 : thread_count(on);
    const double tiny = double(n) * std::numeric_limits<double>::epsilon();
    for (std::int64_t k = 0; k < n; ++k) {
        if (!(at(k, k) > tiny * before[std::size_t(k)])) {
            for (std::int64_t j = 0; j < n; ++j) at(k, j) = 0;
            continue;
        }
        for (std::int64_t j = 0; j < n; ++j) column[std::size_t(j)] = at(k, j);
#pragma omp parallel for schedule(static, 16) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < n; ++i) sweep_row(a.data() + i * n, i, k, column.data());
    }
}

}  // namespace

template <class V>
csr<V, host> dense_inverse(cpu on, const csr<V, host_view>& A) {
    const std::int64_t n = A.shape.rows;
    if (A.shape.cols != n) throw argument_error("dense_inverse: the matrix is not square");
    host_vector<double> a(std::size_t(n * n), 0.0);
    for_each_entry(A, 0, n, [&](index i, index j, V v) { a[std::size_t(i * n + j)] = double(v); });
    invert(on, a, n);
    csr<V, host> inverse{A.shape, {}, host_vector<index>(a.size()), host_vector<V>(a.size())};
    host_vector<offset> ptr(std::size_t(n) + 1);
    for (std::int64_t i = 0; i <= n; ++i) ptr[std::size_t(i)] = i * n;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const auto k = std::size_t(i * n + j);
            inverse.col_ind[k] = index(j);
            inverse.val[k] = V(0 - a[std::size_t(std::max(i, j) * n + std::min(i, j))]);
        }
    inverse.row_ptr = offset_vector(ptr);
    return inverse;
}

template csr<float, host> dense_inverse(cpu, const csr<float, host_view>&);
template csr<double, host> dense_inverse(cpu, const csr<double, host_view>&);

}  // namespace nz
