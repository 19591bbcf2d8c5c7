#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {
namespace {

/// A symmetric n x n matrix, of which the lower triangle is kept.
struct lower_triangle {
    std::int64_t n;
    host_vector<double> val = host_vector<double>(std::size_t(n * n), 0.0);
    double* row(std::int64_t i) { return val.data() + i * n; }
    double& at(std::int64_t i, std::int64_t j) { return row(std::max(i, j))[std::min(i, j)]; }
};

/// Sweeps unknown k into row i. column: that of k.
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

/// Sweeps unknown after unknown, the one first that most of its diagonal entry is left of. Returns
/// those that nothing but rounding is left of: they depend on the others. `a` is minus the inverse
/// then, in the rows and columns of the others; beside it, in the columns of those, is what they
/// are made of.
std::vector<std::int64_t> sweep(cpu on, lower_triangle& a, double rounding) {
    const std::int64_t n = a.n;
    host_vector<double> before(static_cast<std::size_t>(n)), column(before.size());
    std::vector<std::int64_t> left(before.size());
    for (std::int64_t k = 0; k < n; ++k)
        before[std::size_t(k)] = a.at(k, k), left[std::size_t(k)] = k;
    constexpr std::int64_t worth_threads = 400;  // docs/decisions/threads.md
    const int threads = n < worth_threads ? 1 : thread_count(on);
    const auto share_left = [&](std::int64_t k) { return a.at(k, k) / before[std::size_t(k)]; };
    while (!left.empty()) {
        const auto largest = std::ranges::max_element(left, {}, share_left);
        const std::int64_t k = *largest;
        if (!(share_left(k) > rounding)) break;
        left.erase(largest);
        for (std::int64_t j = 0; j < n; ++j) column[std::size_t(j)] = a.at(k, j);
#pragma omp parallel for schedule(static, 16) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < n; ++i) sweep_row(a.row(i), i, k, column.data());
    }
    return left;
}

using columns = std::vector<host_vector<double>>;

double dot(const host_vector<double>& x, const host_vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
    return sum;
}

/// y = y + f x
void add(double f, const host_vector<double>& x, host_vector<double>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += f * x[i];
}

/// An orthonormal basis of what the matrix sends to zero. Gram-Schmidt, twice.
columns null_space(lower_triangle& a, const std::vector<std::int64_t>& dependent) {
    columns basis;
    for (const std::int64_t d : dependent) {
        host_vector<double> v(static_cast<std::size_t>(a.n));
        for (std::int64_t i = 0; i < a.n; ++i) v[std::size_t(i)] = -a.at(i, d);
        for (const std::int64_t other : dependent) v[std::size_t(other)] = other == d;
        for (int pass = 0; pass < 2; ++pass)
            for (const auto& q : basis) add(-dot(q, v), q, v);
        const double norm = std::sqrt(dot(v, v));
        for (double& e : v) e /= norm;
        basis.push_back(std::move(v));
    }
    return basis;
}

/// a = P a P with the projection P = I - Q Q^T, for the columns Q: a - Q U^T - U Q^T, where
/// U = a Q - Q (Q^T a Q) / 2.
void project(lower_triangle& a, const columns& Q) {
    columns U;
    for (const auto& q : Q) {
        auto& u = U.emplace_back(q.size(), 0.0);
        for (std::int64_t i = 0; i < a.n; ++i)
            for (std::int64_t j = 0; j < a.n; ++j)
                u[std::size_t(i)] += a.at(i, j) * q[std::size_t(j)];
    }
    const columns AQ = U;
    for (std::size_t m = 0; m < Q.size(); ++m)
        for (const auto& q : Q) add(-dot(q, AQ[m]) / 2, q, U[m]);
    for (std::size_t m = 0; m < Q.size(); ++m)
        for (std::int64_t i = 0; i < a.n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                const auto k = std::size_t(i), l = std::size_t(j);
                a.row(i)[j] -= Q[m][k] * U[m][l] + U[m][k] * Q[m][l];
            }
}

/// In place.
void invert(cpu on, lower_triangle& a, double rounding) {
    const auto dependent = sweep(on, a, rounding);
    const columns Q = null_space(a, dependent);
    for (double& v : a.val) v = 0 - v;
    for (const std::int64_t d : dependent)
        for (std::int64_t j = 0; j < a.n; ++j) a.at(d, j) = 0;
    project(a, Q);
}

}  // namespace

template <class V>
csr<V, host> pseudo_inverse(cpu on, const csr<V, host_view>& A) {
    const std::int64_t n = A.shape.rows;
    if (A.shape.cols != n) throw argument_error("pseudo_inverse: the matrix is not square");
    lower_triangle a{n};
    for_each_entry(A, 0, n, [&](index i, index j, V v) { a.row(i)[j] = double(v); });
    // On the coarsest levels of singular matrices of up to 10^6 rows, 2e3 n eps and less was left
    // of a diagonal entry, of regular ones 5e10 n eps and more; in single precision the two meet at
    // some hundreds (docs/experiments/multigrid.md).
    constexpr double of_rounding = std::is_same_v<V, float> ? 16 : 1e4;
    invert(on, a, of_rounding * double(n) * double(std::numeric_limits<V>::epsilon()));
    csr<V, host> inverse{
        A.shape, {}, host_vector<index>(a.val.size()), host_vector<V>(a.val.size())};
    host_vector<offset> ptr(std::size_t(n) + 1);
    for (std::int64_t i = 0; i <= n; ++i) ptr[std::size_t(i)] = i * n;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const auto k = std::size_t(i * n + j);
            inverse.col_ind[k] = index(j);
            inverse.val[k] = V(a.at(i, j));
        }
    inverse.row_ptr = offset_vector(ptr);
    return inverse;
}

template csr<float, host> pseudo_inverse(cpu, const csr<float, host_view>&);
template csr<double, host> pseudo_inverse(cpu, const csr<double, host_view>&);

}  // namespace nz
