// A direct solver: A x = b by the factors of A, kept for further right-hand sides.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

template <class W>
class sparse_factors;
struct rearrangement;
template <class V>
class factor_plan;  // solve/direct/factor_plan.hpp

/// P R A C Q = L U: rows and columns scaled by powers of two and rows permuted so that large
/// entries are on the diagonal (matching.hpp), then an order with little fill and a supernodal LU
/// with rows exchanged where the diagonal is too small. Where A is symmetric (hermitian) and its
/// diagonal positive, L L^H is tried first, which takes half, unless LU fits and is predicted to be
/// faster. Values in double, also of A in float.
/// Deterministic; one thread; its const members may be called from several. By another library
/// than Eigen as deterministic as that library and its BLAS are.
template <class V>
class factorization {
  public:
    using wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;

    using libraries = factor_forecast::libraries;

    /// A is copied. most_bytes: that factors may take, as it is predicted; 0: half of the machine's
    /// memory.
    /// Throws   argument_error where A is malformed, not square, not finite, structurally singular
    ///          (naming a row and a column) or numerically singular, so that a pivot is zero, and
    ///          by cholmod where A is not symmetric (hermitian) positive definite;
    ///          unavailable, with the number, where the forecast is above most_bytes, and where
    ///          the library is not there; std::bad_alloc where the memory does not suffice.
    explicit factorization(const csr<V, host_view>& A, double most_bytes = 0,
                           libraries by = libraries::eigen);
    /// By a plan that was made of A, once.
    factorization(const csr<V, host_view>& A, const factor_plan<V>&);

    /// x = A^-1 b, refined while the residual of the A given halves, five times at most. b, x: rows
    /// of A. Returns |b - A x| / |b| as it is then, 0 where b is: the caller judges it, as of an A
    /// that is nearly singular.
    /// Throws   argument_error where a length is wrong.
    double solve(std::span<const V> b, std::span<V> x) const;
    /// Several right-hand sides, one after the other in B and X; the largest of their residuals.
    double solve_many(std::span<const V> B, std::span<V> X) const;
    /// x = A^-1 b by the factors alone, as a preconditioner.
    void apply(std::span<const V> b, std::span<V> x) const;

    [[nodiscard]] index rows() const { return A_.shape.rows; }
    [[nodiscard]] std::int64_t entries() const;           ///< of L and U
    [[nodiscard]] std::size_t bytes() const;              ///< of L and U
    [[nodiscard]] std::int64_t perturbed_pivots() const;  ///< too small, by pardiso
    /// Of what was made at last, with the library that made it.
    [[nodiscard]] const factor_forecast& forecast() const { return forecast_; }
    [[nodiscard]] double seconds() const { return seconds_; }  ///< it took, without its plan

  private:
    void factorize(const factor_plan<V>&);

    csr<V, host> A_;
    std::shared_ptr<const rearrangement> arrangement_;
    std::shared_ptr<const sparse_factors<wide>> factors_;
    factor_forecast forecast_;
    double seconds_ = 0;
};

}  // namespace nz
