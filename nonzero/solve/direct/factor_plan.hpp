// A factorization before its factors: what nz::solve compares with iterating.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

struct rearrangement;  // solve/scaling/matching.hpp

/// A factorization that is prepared: matching, order and forecast. Nothing of the factors is there.
template <class V>
class factor_plan {
  public:
    /// Throws   argument_error where A is malformed, not square, structurally singular (naming a
    ///          row and a column) or not finite.
    explicit factor_plan(const csr<V, host_view>& A, double most_bytes = 0);
    [[nodiscard]] const factor_forecast& forecast() const { return forecast_; }
    [[nodiscard]] const rearrangement& arrangement() const { return *arrangement_; }
    [[nodiscard]] double most_bytes() const { return most_bytes_; }

  private:
    std::shared_ptr<const rearrangement> arrangement_;
    factor_forecast forecast_;
    double most_bytes_;
};

}  // namespace nz
