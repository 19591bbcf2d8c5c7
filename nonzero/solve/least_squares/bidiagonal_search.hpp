// One search for singular triplets: its basis, and the small matrix that A is in it.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/solve/eigs/dense.hpp"
#include "nonzero/solve/eigs/vector_basis.hpp"
#include "nonzero/solve/least_squares/svds.hpp"

namespace nz {

/// Vectors that a basis holds at most.
template <class B>
inline constexpr std::int64_t most_basis = std::is_same_v<B, cpu> ? std::int64_t(1) << 20
                                                                  : max_basis;

/// A is taken as it stands over the space of the shorter side: `to_long` is A where it has more
/// rows than columns, else A^T, and so `to_short` the other.
template <class V, class B>
struct bidiagonal_search {
    static constexpr double epsilon = std::numeric_limits<V>::epsilon();

    bidiagonal_search(B on, const linear_operator<V, B>& matrix, const svds_options& o,
                      std::span<const V> start);

    void to_long(V alpha, in<V, B> from, V beta, out<V, B> to) const {
        is_wide ? A.apply_transposed(transposition::transpose, scale * alpha, from, beta, to)
                : A.apply(scale * alpha, from, beta, to);
    }
    void to_short(V alpha, in<V, B> from, V beta, out<V, B> to) const {
        is_wide ? A.apply(scale * alpha, from, beta, to)
                : A.apply_transposed(transposition::transpose, scale * alpha, from, beta, to);
    }
    /// The same of several vectors.
    void to_long(in_columns<V, B> from, out_columns<V, B> to) const {
        is_wide ? A.apply_transposed_many(transposition::transpose, scale, from, V(0), to)
                : A.apply_many(scale, from, V(0), to);
    }
    void to_short(in_columns<V, B> from, out_columns<V, B> to) const {
        is_wide ? A.apply_many(scale, from, V(0), to)
                : A.apply_transposed_many(transposition::transpose, scale, from, V(0), to);
    }
    /// The scale in which squares of A's values are numbers, by a product with the first v.
    void set_scale();
    double length_of(vector_space<V, B>& space, in<V, B> x);
    double& projected(int i, int j) { return projections[std::size_t(j * capacity + i)]; }
    /// Rounding errors of products are as large.
    [[nodiscard]] double negligible() const { return 10 * epsilon * report.norm; }
    [[nodiscard]] double allowed() const {
        return std::max(options.template tol_of<V>() / 2, 4 * epsilon) * report.norm;
    }

    /// w becomes orthogonal to the first `count` of vectors; its length, which it keeps, 0 where
    /// that is no more than `least`. The coefficients taken off are added to `taken`.
    double orthogonalise(vector_basis<V, B>& vectors, int count, out<V, B> w, double least,
                         std::vector<double>* taken = nullptr);
    /// The same of column `count`.
    double orthogonalise(vector_basis<V, B>& vectors, int count, double least,
                         std::vector<double>* taken = nullptr) {
        return orthogonalise(vectors, count, vectors.column(count), least, taken);
    }
    /// Column `count` is a random unit vector, orthogonal to those before it. False: there is none.
    bool set_noise(vector_space<V, B>& space, vector_basis<V, B>& vectors, range own, int count);
    /// The first v, of the guess or of noise.
    bool start();
    /// v_size becomes a part of the basis: u of it, and the next v.
    void extend();
    /// Steps after which the small matrix is looked at: they take several times as long, as far as
    /// the vectors of the basis tell.
    [[nodiscard]] int look_after() const;
    /// A in the basis, column by column.
    [[nodiscard]] std::vector<double> small_matrix() const;
    /// theta and ends, which tell the residuals and take far less time than the vectors. left and
    /// right are empty afterwards; `rotate` finds them when it needs them.
    void look();
    /// theta, left, right: the `count` largest triplets of the small matrix, or all; and ends.
    void decompose(int count);
    [[nodiscard]] double residual_of(int k) const { return v_length * ends[std::size_t(k)]; }
    [[nodiscard]] int count_converged() const;
    /// The basis becomes the best `to` of its Ritz vectors.
    void rotate(int to);
    void restart();
    /// Calls the monitor. False where it asks to stop.
    bool tell(int converged);

    // svds_copies.cpp
    /// The last of the wanted values that a copy must exceed to matter.
    [[nodiscard]] double level() const;
    /// Whether no copy of a wanted value is left beside the whole basis, as far as a few products
    /// tell. Copies are orthogonal to all of it while it was never restarted.
    [[nodiscard]] bool has_no_copies();
    /// The basis becomes the wanted vectors, and goes on from a random one.
    void start_check();
    /// No copy of a wanted value is left: it would have outgrown value `wanted`.
    [[nodiscard]] bool is_checked() const;
    /// Whether the search may end, or a check begin, by what `look` found.
    [[nodiscard]] bool is_near_an_end() const {
        return size >= wanted && count_converged() == wanted &&
               (!checks || has_moved() || is_checked());
    }
    /// Whether the wanted values are others than as the check began.
    [[nodiscard]] bool has_moved() const;

    const linear_operator<V, B>& A;
    const svds_options& options;
    std::span<const V> guess;
    const communicator* ranks;
    bool is_wide;
    vector_space<V, B> of_short, of_long;
    range own_short, own_long;  ///< which elements of all
    std::int64_t dimension;     ///< of the space that is searched
    int wanted, capacity, kept;
    vector_basis<V, B> basis;  ///< one more than capacity: the next v
    vector<V, B> u, shifted;
    scalars_on<one_scalar<double>, B> sum;
    V scale = V(1);
    int exponent = 0;                 ///< scale is 2^exponent
    bool monitored;                   ///< on any rank
    std::vector<double> projections;  ///< column j: A v_j in the left vectors
    std::vector<double> theta, left, right;
    std::vector<double> ends;      ///< |the last element| of each left vector
    std::vector<double> coupling;  ///< of the kept vectors with the next; empty: none
    std::vector<double> found;     ///< the wanted values as the check began
    int size = 0;
    double u_length = 0;  ///< alpha, which u is long
    double v_length = 0;  ///< beta, which the next v was long
    double residual = 0;
    bool checks = false, stopped = false;
    std::int64_t degrees = 0;  ///< of the polynomials in A^T A since the check began
    std::uint64_t seed = 0;
    eigs_options::report report;
};

}  // namespace nz
