// A factorization before its factors: what nz::solve compares with iterating.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

struct rearrangement;  // solve/scaling/matching.hpp
template <class W>
class symbolic_factors;  // solve/direct/sparse_factors.hpp

/// A factorization that is prepared: matching, order and forecast. Nothing of the factors is there.
template <class V>
class factor_plan {
    using wide = std::conditional_t<is_complex<V>, std::complex<double>, double>;
    using libraries = factor_forecast::libraries;

  public:
    /// With automatic or a library that is for definite matrices alone, and A symmetric
    /// (hermitian) with a positive diagonal, a Cholesky factorization is planned, unless
    /// may_be_definite is false; so it is with eigen and pardiso.
    /// Throws   argument_error where A is malformed, not square, structurally singular (naming a
    ///          row and a column) or not finite, or not symmetric with a positive diagonal, as
    ///          cholmod wants it; unavailable where the library is not there.
    explicit factor_plan(const csr<V, host_view>& A, double most_bytes = 0,
                         libraries asked = libraries::eigen, bool may_be_definite = true);
    [[nodiscard]] const factor_forecast& forecast() const { return forecast_; }
    [[nodiscard]] const rearrangement& arrangement() const { return *arrangement_; }
    [[nodiscard]] double most_bytes() const { return most_bytes_; }
    [[nodiscard]] libraries asked() const { return asked_; }
    /// Of the library planned; null for eigen.
    [[nodiscard]] symbolic_factors<wide>* symbolic() const { return symbolic_.get(); }

  private:
    std::shared_ptr<const rearrangement> arrangement_;
    std::shared_ptr<symbolic_factors<wide>> symbolic_;
    factor_forecast forecast_;
    double most_bytes_;
    libraries asked_;
};

}  // namespace nz
