#include "nonzero/solve/dense_inverse.hpp"

#include <limits>

namespace nz {
namespace {

/// Takes unknown k out of the rows [first, last) of the n x n matrix a, row by row.
void sweep_rows(double* a, std::int64_t n, std::int64_t k, double pivot, range rows) {
    const double* const from = a + k * n;
    for (std::int64_t i = rows.first; i < rows.last; ++i) {
        double* const to = a + i * n;
        const double f = to[k] / pivot;
        if (i == k || f == 0) continue;
#pragma omp simd
        for (std::int64_t j = 0; j < n; ++j) to[j] -= f * from[j];
        to[k] = -f;
    }
}

void clear(double* a, std::int64_t n, std::int64_t k) {
    for (std::int64_t j = 0; j < n; ++j) a[k * n + j] = a[j * n + k] = 0;
}

/// In place, without pivoting.
void invert(cpu on, host_vector<double>& a, std::int64_t n) {
    host_vector<double> before(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < n; ++k) before[std::size_t(k)] = a[std::size_t(k * n + k)];
    constexpr std::int64_t worth_threads = 128;
    const int threads = n < worth_threads ? 1 : thread_count(on);
    const double tiny = double(n) * std::numeric_limits<double>::epsilon();
    for (std::int64_t k = 0; k < n; ++k) {
        const double pivot = a[std::size_t(k * n + k)];
        if (!(pivot > tiny * before[std::size_t(k)])) {
            clear(a.data(), n, k);
            continue;
        }
#pragma omp parallel for schedule(static, 1) num_threads(threads) if (threads > 1)
        for (int t = 0; t < threads; ++t) sweep_rows(a.data(), n, k, pivot, share(n, threads, t));
        for (std::int64_t j = 0; j < n; ++j) a[std::size_t(k * n + j)] /= pivot;
        a[std::size_t(k * n + k)] = 1 / pivot;
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
            const auto k = std::size_t(i * n + j), mirrored = std::size_t(j * n + i);
            inverse.col_ind[k] = index(j);
            inverse.val[k] = V((a[k] + a[mirrored]) / 2);
        }
    inverse.row_ptr = offset_vector(ptr);
    return inverse;
}

template csr<float, host> dense_inverse(cpu, const csr<float, host_view>&);
template csr<double, host> dense_inverse(cpu, const csr<double, host_view>&);

}  // namespace nz
