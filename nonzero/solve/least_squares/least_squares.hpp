// Least squares with a matrix of any shape.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>

#include "nonzero/formats/linear_operator.hpp"

namespace nz {

struct least_squares_options {
    struct report;

    double damp = 0;  ///< weight of |x - x0|, which makes ill-posed problems regular
    /// Relative errors of A and of b. x is good enough where it solves a system, or the least
    /// squares problem, within them.
    double atol = 1e-6, btol = 1e-6;
    double conlim = 1e8;         ///< of the estimated condition number; 0: no limit
    std::int64_t max_iter = -1;  ///< at most; -1: min(m, n) of lsmr, 2 n of lsqr
    /// The solver ends between two iterations when that long has passed since the call  [s]. Which
    /// iteration that is differs from run to run.
    double max_seconds = std::numeric_limits<double>::infinity();
    /// Called in order for each iteration with |b - A x| / |b|, on a GPU in batches; false stops
    /// the solver.
    std::function<bool(std::int64_t iteration, double residual)> monitor = {};
    bool graph = true;  ///< on a GPU: as solve_options::graph
};

/// Norms but those of b and of b - A x are estimates that the iterations carry along.
struct least_squares_options::report {
    /// Why it ended. The numbers to max_iter are SciPy's istop.
    enum class endings : int {
        exact_at_start,               ///< x0 is a solution: b - A x0 or A^H (b - A x0) is zero
        solved,                       ///< A x = b within atol and btol
        least_squares,                ///< x is a least squares solution within atol
        ill_conditioned,              ///< the condition number seems to be above conlim
        solved_to_rounding,           ///< as solved, and rounding errors allow no more
        least_squares_to_rounding,    ///< as least_squares, and rounding errors allow no more
        ill_conditioned_to_rounding,  ///< the condition number is beyond what numbers resolve
        max_iter,                     ///< spent, as the next one
        max_seconds,
        stopped_by_caller,
        not_finite,  ///< NaN or infinity in A, b or x0, or a square beyond numbers, or below them
    };
    endings ending = endings::max_iter;
    std::string why;              ///< the same, in one sentence
    std::int64_t iterations = 0;  ///< each a product with A and one with A^H
    double rhs_norm = 0;          ///< |b|
    double residual_norm = 0;     ///< |b - A x|, computed at the end
    double damped_norm = 0;       ///< sqrt(|b - A x|^2 + damp^2 |x - x0|^2)
    double gradient_norm = 0;     ///< |A^H (b - A x) - damp^2 (x - x0)|
    double norm = 0;              ///< the Frobenius norm of (A; damp I), from below
    double condition = 0;         ///< the condition number of (A; damp I)
    double solution_norm = 0;     ///< |x|
    bool in_graph = false;        ///< the iterations ran in a CUDA graph
    double setup_s = 0;           ///< making vectors and graph, the first products          [s]
    double iterations_s = 0;      ///< the iterations alone                                  [s]

    /// Whether x is what was asked for: a solution, or a least squares solution, within atol and
    /// btol or what rounding allows.
    [[nodiscard]] bool converged() const;
    void end_by(endings);  ///< sets ending and why
};

/// Minimises |b - A x|^2 + damp^2 |x - x0|^2 for A of any shape m x n and any rank, from x = x0 on,
/// by LSMR: Golub and Kahan's bidiagonalisation of A, and x that minimises the norm of
/// A^H (b - A x), which falls in every iteration, as |b - A x| does.
///
///     u = b - A x, beta = |u|;   v = A^H u / beta, alpha = |v|
///     repeat  u = A v - alpha u, beta = |u|
///             v = A^H u - beta v, alpha = |v|
///             rotations make the bidiagonal matrix, and then its product with itself, triangular
///             x moves along h, which is made of v and the h before
///     until   |b - A x| <= btol |b| + atol |A| |x|,   or |A^H (b - A x)| <= atol |A| |b - A x|,
///             or the condition number is beyond conlim
///
/// Where A has not full rank x is the least squares solution that is nearest to x0. A multiplies by
/// `apply` and by `apply_transposed`: a plan with plan_options::transposed has both fast.
/// x: n elements, the guess and the result; b: m. They lie on `on`; over ranks (on.ranks) each has
/// its own elements. Whatever ended it, x is the best so far.
///
/// Moves    beside the products, 11 vectors an iteration, 3 of them of m elements.
/// Throws   argument_error where a length or an option is wrong; and what A throws. Not converging
///          is a value.
/// Source   Fong and Saunders 2011, doi:10.1137/10079687X.
template <class V, class B>
least_squares_options::report lsmr(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                                   const least_squares_options& = {});

/// The same by LSQR, which minimises |b - A x| itself over the same space: where A x = b has
/// solutions it is as good as lsmr; where it has none, lsmr may stop earlier. Mathematically,
/// conjugate gradients on the normal equations. `variance`, where it is not empty, gets estimates
/// of the diagonal of (A^H A + damp^2 I)^-1.
///
/// Moves    beside the products, 9 vectors an iteration, 3 of them of m elements.
/// Source   Paige and Saunders 1982, doi:10.1145/355984.355989.
template <class V, class B>
least_squares_options::report lsqr(B on, const linear_operator<V, B>& A, in<V, B> b, out<V, B> x,
                                   const least_squares_options& = {},
                                   out<real<V>, B> variance = {});

/// The same of a matrix on the host, whose products with A and with A^H are planned; b and x are
/// the host's too.
template <class V, class B>
least_squares_options::report lsmr(B on, const csr<V, host_view>& A, std::span<const V> b,
                                   std::span<V> x, const least_squares_options& = {});
template <class V, class B>
least_squares_options::report lsqr(B on, const csr<V, host_view>& A, std::span<const V> b,
                                   std::span<V> x, const least_squares_options& = {});

}  // namespace nz
