// A few eigenpairs at the ends of a symmetric matrix's spectrum.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/solve/krylov/report.hpp"

namespace nz {

struct eigs_options {
    /// Algebraically the smallest or the largest; the largest in magnitude; or, of both ends,
    /// count / 2 of the smallest and the rest of the largest.
    enum class ends { smallest, largest, magnitude, both };
    struct report;
    template <class V>
    struct result;
    /// The state of a search.
    struct progress {
        std::int64_t products = 0;
        int converged = 0;  ///< pairs
        int wanted = 0;     ///< pairs; for magnitude of each end as many as there can be
        bool checks =
            false;  ///< all have converged, and it looks for copies of them that it missed
        double residual = 0;  ///< |A x - theta x| / |A| of the pair that it works on
    };

    int count = 6;  ///< eigenpairs, at most 50
    ends which = ends::smallest;
    /// Tolerance of |A x - theta x| / |A|, for each pair; without, solve_options::default_tol.
    std::optional<double> tol = {};
    std::int64_t max_products = 10000;  ///< at most, for each end
    int basis = 0;                      ///< vectors held: from count + 2 to 128; 0: as suits count
    /// Called whenever a residual is known; false stops the search.
    std::function<bool(const progress&)> monitor = {};

    template <class V>
    [[nodiscard]] double tol_of() const {
        return tol.value_or(solve_options::default_tol<V>);
    }
};

struct eigs_options::report {
    bool converged = false;                   ///< all pairs keep tol, with A x computed at the end
    nz::status status = nz::status::running;  ///< why the search ended
    std::string why;                          ///< the same, in one sentence
    std::int64_t products = 0, restarts = 0;
    double norm = 0;                ///< norm of A, an estimate from below
    std::vector<double> residuals;  ///< |A x - theta x| / norm of each pair, at the end
    double seconds = 0;

    void end_by(nz::status);  ///< sets status and why
};

template <class V>
struct eigs_options::result {
    std::vector<double> values;  ///< the outermost first; of magnitude and both ascending
    host_vector<V> vectors;      ///< orthonormal, n elements each, one after the other
    eigs_options::report report;

    [[nodiscard]] std::span<const V> vector(std::size_t k) const {
        const std::size_t n = values.empty() ? 0 : vectors.size() / values.size();
        return std::span<const V>(vectors).subspan(k * n, n);
    }
};

/// Extreme eigenpairs of the symmetric A by Davidson's method: Rayleigh-Ritz on an orthonormal
/// basis, and as its next vector what the first pair that has not converged asks for. A full basis
/// is restarted with the best of its Ritz vectors.
///
/// Without M the basis starts as Lanczos's, and then the next vector is a Chebyshev polynomial of A
/// times the Ritz vector, small on what lies behind the basis's Ritz values and of a degree that
/// gives a factor of 27 each time. Products take the place of work on the basis, which is most of
/// it otherwise. From one start a multiple eigenvalue shows once; so, when all pairs have
/// converged, the search goes on from a random vector that is orthogonal to them, until another
/// copy shows, and then again, or until the polynomials applied would have lifted one from that
/// vector's rounding errors.
///
/// M, where given, applies an approximate inverse of A: for the smallest ones of a definite A. It
/// need not be symmetric. The next vector is M times the residual, and the basis starts with more
/// random vectors than `count`, so that multiple eigenvalues show as often as they are there.
///
/// For `magnitude` and `both` the smallest ones come first, with M where there is one, and then,
/// without, the largest of what is orthogonal to their vectors. Rayleigh-Ritz on the vectors of
/// both makes pairs that keep tol as well.
///
/// A whose norm has no square in V's numbers is multiplied by a power of two for the search, so
/// that 2^k A has the same vectors and 2^k times the values, bit for bit where those are numbers. A
/// product with a random vector tells its scale.
///
/// Over ranks (on.ranks) called by all of them, with the same options; guess and vectors are each
/// rank's own elements. A, M and the vectors lie on `on`. `guess`: vectors that are near to what is
/// wanted, n elements each. Whether A is symmetric is not checked. Same bits in every run with the
/// same number of threads. Where n < count there are n pairs.
///
/// Moves    for a vector of the basis, it 6 times; for a product of a polynomial, 3 vectors.
/// Throws   argument_error where A is not square, M not of its shape, or a length or an option is
///          wrong; and what A and M throw. Not converging is a value.
/// Source   Davidson 1975; the restart: Stathopoulos, Saad, Wu 1998; Wu and Simon 2000; the
///          polynomial: Zhou and Saad 2007, doi:10.1137/050630404.
template <class V, class B>
eigs_options::result<V> eigs(B on, const linear_operator<V, B>& A, const eigs_options& = {},
                             const linear_operator<V, B>* M = nullptr,
                             std::span<const V> guess = {});

}  // namespace nz
