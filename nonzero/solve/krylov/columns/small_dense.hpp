// Blocks of a few vectors by rows, and the small matrices that combine them; on the CPU.
#pragma once

#include <array>
#include <cmath>
#include <vector>

#include "nonzero/core/parallel.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// A small dense matrix in double precision, row after row.
template <class V>
struct small_matrix {
    using W = wide_value<V>;
    std::size_t rows = 0, cols = 0;
    std::vector<W> val = {};

    small_matrix() = default;
    small_matrix(std::size_t m, std::size_t n) : rows(m), cols(n), val(m * n) {}
    W& operator()(std::size_t i, std::size_t j) { return val[i * cols + j]; }
    const W& operator()(std::size_t i, std::size_t j) const { return val[i * cols + j]; }
};

/// Vectors by rows without gaps.
template <class V>
struct few_vectors {
    std::size_t count = 0;
    host_vector<V> val = {};

    few_vectors() = default;
    few_vectors(std::size_t n, std::size_t k) : count(k), val(n * k) {}
    [[nodiscard]] std::size_t rows() const { return count == 0 ? 0 : val.size() / count; }
    V* row(std::size_t i) { return val.data() + i * count; }
    const V* row(std::size_t i) const { return val.data() + i * count; }
};

/// Runs of rows whose sums are made one after the other: the same for any number of threads.
inline std::int64_t rows_a_run(std::int64_t rows) {
    constexpr std::int64_t most_runs = 256, least = 256;
    return std::max(least, (rows + most_runs - 1) / most_runs);
}

/// The sum of f(i, sum) over the rows i of n, `sum` being one that starts as `zero`.
template <class Sum, class F>
Sum sum_over_rows(cpu on, std::int64_t n, std::size_t width, const Sum& zero, const F& f) {
    const std::int64_t run = rows_a_run(n), runs = (n + run - 1) / run;
    std::vector<Sum> parts(std::size_t(runs), zero);
    parallel_for(thread_count(on, n * std::int64_t(width)), runs, [&](std::int64_t r) {
        for (std::int64_t i = r * run; i < std::min(n, (r + 1) * run); ++i)
            f(std::size_t(i), parts[std::size_t(r)]);
    });
    Sum all = zero;
    for (const Sum& part : parts)
        for (std::size_t k = 0; k < all.val.size(); ++k) all.val[k] += part.val[k];
    return all;
}

/// A^H B, summed in double.
template <class V>
small_matrix<V> inner_products(cpu on, const few_vectors<V>& A, const few_vectors<V>& B) {
    using W = wide_value<V>;
    const auto add_row = [&](std::size_t i, small_matrix<V>& sums) {
        const V *const a = A.row(i), *const b = B.row(i);
        for (std::size_t p = 0; p < A.count; ++p) {
            const W left = conjugated(transposition::conjugate_transpose, W(a[p]));
            W* const row = &sums.val[p * sums.cols];
            for (std::size_t q = 0; q < B.count; ++q) row[q] += product(left, W(b[q]));
        }
    };
    return sum_over_rows(on, std::int64_t(A.rows()), A.count, small_matrix<V>(A.count, B.count),
                         add_row);
}

/// The squared norms of the vectors, in one row.
template <class V>
small_matrix<double> squared_norms(cpu on, const few_vectors<V>& A) {
    const auto add_row = [&](std::size_t i, small_matrix<double>& sums) {
        for (std::size_t k = 0; k < A.count; ++k) sums.val[k] += double(norm2(A.row(i)[k]));
    };
    return sum_over_rows(on, std::int64_t(A.rows()), A.count, small_matrix<double>(1, A.count),
                         add_row);
}

/// Y = Y + factor A C, of up to most_of_few columns.
inline constexpr std::size_t most_of_few = 64;
template <class V>
void add_product(cpu on, double factor, const few_vectors<V>& A, const small_matrix<V>& C,
                 few_vectors<V>& Y) {
    using W = wide_value<V>;
    NZ_ASSERT(Y.count <= most_of_few);
    const auto n = std::int64_t(Y.rows());
    parallel_for(thread_count(on, n * std::int64_t(Y.count)), n, [&](std::int64_t row) {
        const auto i = std::size_t(row);
        std::array<W, most_of_few> sums{};
        for (std::size_t p = 0; p < A.count; ++p) {
            const W a = factor * W(A.row(i)[p]);
            for (std::size_t q = 0; q < Y.count; ++q) sums[q] += product(a, C(p, q));
        }
        V* const y = Y.row(i);
        for (std::size_t q = 0; q < Y.count; ++q) y[q] = rounded_to<V>(W(y[q]) + sums[q]);
    });
}

/// A C, in the memory of `to`.
template <class V>
void multiply(cpu on, const few_vectors<V>& A, const small_matrix<V>& C, few_vectors<V>& to) {
    to.count = C.cols;
    to.val.assign(A.rows() * C.cols, V(0));
    if (C.cols > 0) add_product(on, 1, A, C, to);
}

/// T such that T^H G T = I for a hermitian positive semidefinite G, with a column for each row of G
/// that does not depend on those before it, up to `least` of its own square; by Cholesky's
/// factorization with pivots. is_definite: false where a square is below 0, or no number.
template <class V>
small_matrix<V> orthonormalizing(const small_matrix<V>& G, double least, bool& is_definite) {
    using W = wide_value<V>;
    const std::size_t n = G.rows;
    std::vector<double> scale(n), left(n);
    is_definite = true;
    for (std::size_t i = 0; i < n; ++i) {
        const double square = std::real(G(i, i));
        is_definite = is_definite && square >= 0 && std::isfinite(square);
        scale[i] = square > 0 ? 1 / std::sqrt(square) : 0, left[i] = square > 0 ? 1 : 0;
    }
    // Columns of T, as the Gram-Schmidt process makes them: the i-th is orthogonal to those before.
    small_matrix<V> L(n, n), T(n, n);
    std::size_t rank = 0;
    std::vector<std::size_t> pivots;
    for (; rank < n; ++rank) {
        std::size_t at = 0;
        for (std::size_t i = 1; i < n; ++i)
            if (left[i] > left[at]) at = i;
        if (!(left[at] > least)) break;
        const double root = std::sqrt(left[at]);
        for (std::size_t i = 0; i < n; ++i) {
            W sum = G(i, at) * (scale[i] * scale[at]);
            for (std::size_t k = 0; k < rank; ++k)
                sum -= product(L(i, k), conjugated(transposition::conjugate_transpose, L(at, k)));
            L(i, rank) = sum / root;
        }
        L(at, rank) = root;
        for (std::size_t i = 0; i < n; ++i) left[i] -= norm2(L(i, rank));
        for (const std::size_t before : pivots) L(before, rank) = 0;
        pivots.push_back(at);
        left[at] = 0;
    }
    // P = W S L_p^-H over the pivots' columns, column by column.
    for (std::size_t c = 0; c < rank; ++c) {
        T(pivots[c], c) = scale[pivots[c]] / std::real(L(pivots[c], c));
        for (std::size_t k = 0; k < c; ++k) {
            const W factor = conjugated(transposition::conjugate_transpose, L(pivots[c], k)) /
                             std::real(L(pivots[c], c));
            for (std::size_t i = 0; i < n; ++i) T(i, c) -= product(T(i, k), factor);
        }
    }
    small_matrix<V> cut(n, rank);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t c = 0; c < rank; ++c) cut(i, c) = T(i, c);
    return cut;
}

}  // namespace nz
