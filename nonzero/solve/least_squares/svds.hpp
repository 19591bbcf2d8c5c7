// The largest singular triplets of a matrix of any shape.
#pragma once

#include "nonzero/solve/eigs/eigs.hpp"

namespace nz {

struct svds_options {
    template <class V>
    struct result;

    int count = 6;  ///< triplets; at most min(m, n) are found, on a GPU at most 100
    /// Tolerance of |A v - s u| / |A| and |A^H u - s v| / |A|, for each triplet; without,
    /// solve_options::default_tol.
    std::optional<double> tol = {};
    std::int64_t max_products = 10000;  ///< with A, at most, and as many with A^H
    int basis = 0;                      ///< vectors held: from count + 2 on; 0: as suits count
    /// Takes A - 1 mu^T for A, mu_j the mean of column j, without making it: the right vectors are
    /// then principal components.
    bool centred = false;
    /// Called whenever residuals are known; false stops the search.
    std::function<bool(const eigs_options::progress&)> monitor = {};

    template <class V>
    [[nodiscard]] double tol_of() const {
        return tol.value_or(solve_options::default_tol<V>);
    }
};

template <class V>
struct svds_options::result {
    std::vector<double> values;  ///< largest first
    host_vector<V> left, right;  ///< orthonormal u of m and v of n elements, one after the other
    /// products: with A, and as many with A^H; residuals: |A^H u - s v| over norm, computed at the
    /// end; |A v - s u| is a rounding error, as u is made of the A v.
    eigs_options::report report;

    [[nodiscard]] std::span<const V> left_vector(std::size_t k) const { return part(left, k); }
    [[nodiscard]] std::span<const V> right_vector(std::size_t k) const { return part(right, k); }

  private:
    [[nodiscard]] std::span<const V> part(const host_vector<V>& all, std::size_t k) const {
        const std::size_t len = values.empty() ? 0 : all.size() / values.size();
        return std::span<const V>(all).subspan(k * len, len);
    }
};

/// The largest singular values of a real A, m x n, and their vectors, A v = s u and A^T u = s v, by
/// Golub and Kahan's bidiagonalisation with thick restarts: a full basis is restarted with the best
/// of its Ritz vectors.
///
///     u = A v - beta u, alpha = |u|;   v = A^T u - alpha v, beta = |v|
///
/// Only the vectors of the shorter side, v or u, are held, and each is made orthogonal to all
/// before it; the others then are so as well, and are made at the end by products with A. The
/// singular values of the small matrix of the alphas and betas are those of A to rounding errors of
/// |A|, not of its square.
///
/// From one start a multiple singular value shows once; so, when all triplets have converged, the
/// search goes on from a random vector that is orthogonal to them, until another copy shows, and
/// then again, or until one would have outgrown what is left. All min(m, n) triplets may be asked
/// for: then the basis is the whole space. The smallest singular values alone are not looked for:
/// they would need factors of A.
///
/// A multiplies by `apply` and by `apply_transposed`, as in lsmr; it and the vectors lie on `on`.
/// `guess`: a vector near those wanted, of the shorter side, n elements where n <= m. Over ranks
/// (on.ranks) called by all of them; guess and vectors are each rank's own elements. Same bits in
/// every run with the same number of threads.
///
/// Moves    for a vector of the basis, it twice; for a product, the longer side's vector 4 times.
/// Throws   argument_error where a length or an option is wrong, and what A throws. Not converging
///          is a value, with the best so far.
/// Source   Golub and Kahan 1965, doi:10.1137/0702016; one side held: Simon and Zha 2000,
///          doi:10.1137/S1064827597327309; the restart: Baglama and Reichel 2005,
///          doi:10.1137/04060593X; Wu and Simon 2000, doi:10.1137/S0895479898334605.
template <class V, class B>
svds_options::result<V> svds(B on, const linear_operator<V, B>& A, const svds_options& = {},
                             std::span<const V> guess = {});

}  // namespace nz
