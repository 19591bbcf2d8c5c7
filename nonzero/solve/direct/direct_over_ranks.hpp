// The direct solver of a matrix over ranks: the first rank takes all of it.
#pragma once

#include <optional>

#include "nonzero/dist/slice.hpp"
#include "nonzero/solve/direct/factor_plan.hpp"
#include "nonzero/solve/direct/factorization.hpp"

namespace nz {

/// Everything is called by all ranks, and what one throws all throw.
template <class V>
class direct_over_ranks {
  public:
    /// Gathers the rows of A on the first rank and plans there.
    /// Throws   as factor_plan; unavailable, with the number, where A itself takes more than
    ///          most_bytes (0: half of the first rank's memory).
    direct_over_ranks(const communicator& ranks, const matrix_slice<V>& A, double most_bytes,
                      factor_forecast::libraries by);
    /// The same on all ranks.
    [[nodiscard]] const factor_forecast& forecast() const { return forecast_; }
    [[nodiscard]] double entries_of_A() const { return entries_; }
    /// Once. Throws as factorization.
    void factorize();
    /// Facts of the factors, the same on all ranks.
    struct made {
        std::int64_t entries = 0, perturbed_pivots = 0;
        double seconds = 0;
    };
    [[nodiscard]] const made& factors() const { return made_; }
    /// x = A^-1 b by the factors alone. b, x: own elements.
    void apply(std::span<const V> b, std::span<V> x) const;

  private:
    [[nodiscard]] bool is_first() const { return ranks_.rank() == 0; }

    const communicator& ranks_;
    shares rows_;
    double entries_;                           ///< of A
    csr<V, host> A_;                           ///< on the first rank, until it is factorized
    std::optional<factor_plan<V>> plan_;       ///< on the first rank
    std::optional<factorization<V>> factors_;  ///< on the first rank
    factor_forecast forecast_;
    made made_;
};

}  // namespace nz
