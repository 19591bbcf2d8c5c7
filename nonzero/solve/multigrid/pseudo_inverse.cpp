#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

#include <algorithm>
#include <cmath>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {
namespace {

/// v's conjugate, which a real number is itself.
template <class W>
W mirror(W v) {
    return conjugated(transposition::conjugate_transpose, v);
}

/// A hermitian n x n matrix, of which the lower triangle is kept. W: double, or complex of it.
template <class W>
struct lower_triangle {
    std::int64_t n;
    host_vector<W> val = host_vector<W>(std::size_t(n * n), W(0));
    W* row(std::int64_t i) { return val.data() + i * n; }
    double diagonal(std::int64_t i) { return std::real(row(i)[i]); }
    W at(std::int64_t i, std::int64_t j) {
        return i < j ? mirror(row(j)[i]) : i == j ? W(diagonal(i)) : row(i)[j];
    }
};

/// Sweeps unknown k into row i. across: its row, which is the conjugate of its column.
template <class W>
void sweep_row(W* row, std::int64_t i, std::int64_t k, const W* across) {
    const double pivot = std::real(across[k]);
    if (i == k) {
        for (std::int64_t j = 0; j < k; ++j) row[j] = across[j] / pivot;
        row[k] = W(-1 / pivot);
        return;
    }
    const W f = mirror(across[i]) / pivot;
    if (f == W(0)) return;
#pragma omp simd
    for (std::int64_t j = 0; j <= i; ++j) row[j] -= product(f, across[j]);
    if (k < i) row[k] = f;
}

/// Sweeps unknown after unknown, the one first that most of its diagonal entry is left of. Returns
/// those that nothing but rounding is left of: they depend on the others. `a` is minus the inverse
/// then, in the rows and columns of the others; beside it, in the columns of those, is what they
/// are made of.
template <class W>
std::vector<std::int64_t> sweep(cpu on, lower_triangle<W>& a, double rounding) {
    const std::int64_t n = a.n;
    host_vector<double> before(static_cast<std::size_t>(n));
    host_vector<W> across(before.size());
    std::vector<std::int64_t> left(before.size());
    for (std::int64_t k = 0; k < n; ++k)
        before[std::size_t(k)] = a.diagonal(k), left[std::size_t(k)] = k;
    constexpr std::int64_t worth_threads = 400;  // docs/decisions/threads.md
    const int threads = n < worth_threads ? 1 : thread_count(on);
    const auto share_left = [&](std::int64_t k) { return a.diagonal(k) / before[std::size_t(k)]; };
    while (!left.empty()) {
        const auto largest = std::ranges::max_element(left, {}, share_left);
        const std::int64_t k = *largest;
        if (!(share_left(k) > rounding)) break;
        left.erase(largest);
        for (std::int64_t j = 0; j < n; ++j) across[std::size_t(j)] = a.at(k, j);
#pragma omp parallel for schedule(static, 16) num_threads(threads) if (threads > 1)
        for (std::int64_t i = 0; i < n; ++i) sweep_row(a.row(i), i, k, across.data());
    }
    return left;
}

template <class W>
using columns = std::vector<host_vector<W>>;

/// x^H y
template <class W>
W dot(const host_vector<W>& x, const host_vector<W>& y) {
    W sum(0);
    for (std::size_t i = 0; i < x.size(); ++i) sum += product(mirror(x[i]), y[i]);
    return sum;
}

/// y = y + f x
template <class W>
void add(W f, const host_vector<W>& x, host_vector<W>& y) {
    for (std::size_t i = 0; i < x.size(); ++i) y[i] += product(f, x[i]);
}

/// An orthonormal basis of what the matrix sends to zero. Gram-Schmidt, twice.
template <class W>
columns<W> null_space(lower_triangle<W>& a, const std::vector<std::int64_t>& dependent) {
    columns<W> basis;
    for (const std::int64_t d : dependent) {
        host_vector<W> v(static_cast<std::size_t>(a.n));
        for (std::int64_t i = 0; i < a.n; ++i) v[std::size_t(i)] = -a.at(i, d);
        for (const std::int64_t other : dependent) v[std::size_t(other)] = W(other == d);
        for (int pass = 0; pass < 2; ++pass)
            for (const auto& q : basis) add(-dot(q, v), q, v);
        const double norm = std::sqrt(std::real(dot(v, v)));
        for (W& e : v) e /= norm;
        basis.push_back(std::move(v));
    }
    return basis;
}

/// a = P a P with the projection P = I - Q Q^H, for the columns Q: a - Q U^H - U Q^H, where
/// U = a Q - Q (Q^H a Q) / 2.
template <class W>
void project(lower_triangle<W>& a, const columns<W>& Q) {
    columns<W> U;
    for (const auto& q : Q) {
        auto& u = U.emplace_back(q.size(), W(0));
        for (std::int64_t i = 0; i < a.n; ++i)
            for (std::int64_t j = 0; j < a.n; ++j)
                u[std::size_t(i)] += product(a.at(i, j), q[std::size_t(j)]);
    }
    const columns<W> AQ = U;
    for (std::size_t m = 0; m < Q.size(); ++m)
        for (const auto& q : Q) add(-dot(q, AQ[m]) / 2.0, q, U[m]);
    for (std::size_t m = 0; m < Q.size(); ++m)
        for (std::int64_t i = 0; i < a.n; ++i)
            for (std::int64_t j = 0; j <= i; ++j) {
                const auto k = std::size_t(i), l = std::size_t(j);
                a.row(i)[j] -=
                    product(Q[m][k], mirror(U[m][l])) + product(U[m][k], mirror(Q[m][l]));
            }
}

/// In place.
template <class W>
void invert(cpu on, lower_triangle<W>& a, double rounding) {
    const auto dependent = sweep(on, a, rounding);
    const columns<W> Q = null_space(a, dependent);
    for (W& v : a.val) v = W(0) - v;
    for (const std::int64_t d : dependent)
        for (std::int64_t j = 0; j < a.n; ++j) a.row(std::max(d, j))[std::min(d, j)] = W(0);
    project(a, Q);
}

}  // namespace

template <class V>
csr<V, host> pseudo_inverse(cpu on, const csr<V, host_view>& A) {
    const std::int64_t n = A.shape.rows;
    if (A.shape.cols != n) throw argument_error("pseudo_inverse: the matrix is not square");
    lower_triangle<wide_value<V>> a{n};
    for_each_entry(A, 0, n, [&](index i, index j, V v) { a.row(i)[j] = wide_value<V>(v); });
    invert(on, a, left_by_rounding<V>(index(n)));
    csr<V, host> inverse{
        A.shape, {}, host_vector<index>(a.val.size()), host_vector<V>(a.val.size())};
    host_vector<offset> ptr(std::size_t(n) + 1);
    for (std::int64_t i = 0; i <= n; ++i) ptr[std::size_t(i)] = i * n;
    for (std::int64_t i = 0; i < n; ++i)
        for (std::int64_t j = 0; j < n; ++j) {
            const auto k = std::size_t(i * n + j);
            inverse.col_ind[k] = index(j);
            inverse.val[k] = rounded_to<V>(a.at(i, j));
        }
    inverse.row_ptr = offset_vector(ptr);
    return inverse;
}

#define NZ_INSTANTIATE(V) template csr<V, host> pseudo_inverse(cpu, const csr<V, host_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
