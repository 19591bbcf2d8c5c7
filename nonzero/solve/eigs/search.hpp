// One search at an end of a spectrum: its basis and the Ritz pairs in it. What the methods do with
// them, a file each, is declared behind.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/solve/eigs/davidson.hpp"
#include "nonzero/solve/eigs/vector_basis.hpp"

namespace nz {

template <class V, class B>
struct eigen_search {
    eigen_search(B on, const linear_operator<V, B>& matrix, const eigs_options& o,
                 const linear_operator<V, B>* inverse, std::span<const V> start,
                 const known_pairs<V>& pairs);

    double& projected(int i, int j) { return projections[std::size_t(j * capacity + i)]; }
    void set(out<V, B> to, std::span<const V> v) { space.copy(from_host(space.on(), v), to); }
    void multiply(in<V, B> x, out<V, B> y, V alpha = V(1), V beta = V(0)) {
        A.apply(alpha, x, beta, y);
        ++products;
    }
    /// v becomes orthogonal to the known vectors, up to rounding errors of its old length. The
    /// length of what was taken of it.
    double deflate(out<V, B> v);
    /// Orthonormalises column size_, whose coefficients the basis has, against the basis and the
    /// known vectors; returns its norm before scaling, 0 if dependent.
    double orthogonalise_projected();
    double orthogonalise() {
        basis.project(size, basis.column(size));
        return orthogonalise_projected();
    }
    [[nodiscard]] static double length_of(const std::vector<double>& coefficients) {
        double length2 = 0;
        for (const double c : coefficients) length2 += c * c;
        return std::sqrt(length2);
    }
    [[nodiscard]] double length_of_coefficients() const {
        return length_of(basis.coefficients(size));
    }
    /// v_size, orthonormal to the basis, becomes a part of it; its image stays, and what the basis
    /// has of it.
    void take();
    bool append();
    bool append_noise();
    void append_guesses(int at_most);
    [[nodiscard]] double last_of(int k) const {
        return in_basis[std::size_t(k + 1) * std::size_t(size) - 1];
    }
    /// theta, times sign, and in_basis, the outermost first.
    void ritz();
    /// Where another value has come between those that had converged, they count no more.
    void forget_what_moved();
    [[nodiscard]] double allowed() const { return options.template tol_of<V>() * report.norm; }
    /// The basis becomes the best `to` Ritz vectors: theta and in_basis are of these.
    void rotate(int to);
    /// ritz_vector, image and residual of Ritz pair k. False where the caller wants no more.
    bool look_at(int k);
    /// Calls the monitor. False where it asks to stop.
    bool tell(int converged);

    const linear_operator<V, B>& A;
    const linear_operator<V, B>* M;
    const eigs_options& options;
    std::span<const V> guess;
    const communicator* ranks;
    std::int64_t elements;  ///< elements of this rank
    range own;              ///< which of all
    int known_count;
    std::int64_t dimension;  ///< of the space that is searched: elements of all ranks, less those
    int guesses;
    double matrix_bytes;
    bool monitored;  ///< on any rank
    int wanted, capacity;
    int kept;  ///< at a restart
    double sign;
    vector_space<V, B> space;
    vector_basis<V, B> basis;  ///< one more than capacity, to work in
    vector_basis<V, B> known;
    vector<V, B> ritz_vector, image;
    std::vector<double> projections;      ///< V^T A V
    std::vector<double> theta, in_basis;  ///< Ritz values of sign A, and their vectors in the basis
    std::vector<double> found;  ///< the Ritz values of the first done pairs as they converged
    double far = std::numeric_limits<double>::infinity();
    double cut = -std::numeric_limits<double>::infinity();
    double residual = 0;
    int size = 0, done = 0, retries = 0;
    bool trusts_guess = false, checks = false, stopped = false;
    std::int64_t products = 0;
    std::int64_t degrees = 0;  ///< degrees of the polynomials since the check began
    std::uint64_t seed = 0;
    std::vector<double> values;
    host_vector<V> vectors;
    eigs_options::report report;
};

// lanczos.cpp

/// Lanczos's vectors, until they hold what is wanted; where products are cheap beside the work on
/// the basis, until it is full.
template <class V, class B>
void start_as_lanczos(eigen_search<V, B>& s);
/// Column size_: the last image, orthonormalised. Returns its norm before scaling; 0: nothing.
template <class V, class B>
double next_of_lanczos(eigen_search<V, B>& s);

// chebyshev_filter.cpp

/// Sets [far, cut], the interval of the unwanted eigenvalues, in terms of sign A.
template <class V, class B>
void set_interval(eigen_search<V, B>& s);
/// The logarithm that a degree more adds to the factor between t and what lies behind `cut`.
template <class V, class B>
double growth(const eigen_search<V, B>& s, double t, double cut);
template <class V, class B>
int degree_for(const eigen_search<V, B>& s, double log, double t);
/// v_size = p(A) ritz_vector, the Chebyshev polynomial of [far, cut], 1 at the first Ritz value;
/// image is A ritz_vector. Both are lost.
template <class V, class B>
void apply_polynomial(eigen_search<V, B>& s, int degree);

// copies.cpp

template <class V, class B>
bool has_level(const eigen_search<V, B>& s);
/// The basis becomes the wanted pairs and a random vector, orthogonal to them, in which
/// polynomials have lifted what is above cut. False where no such vector is left.
template <class V, class B>
bool start_check(eigen_search<V, B>& s);
/// The check is done: a missed copy would have outgrown pair `wanted`, which is far enough from the
/// pairs above it for its residual; or that pair has converged.
template <class V, class B>
bool is_checked(const eigen_search<V, B>& s);

}  // namespace nz
