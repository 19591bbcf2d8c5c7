// Eigen's supernodal LU behind an interface that compiles without it.
#pragma once

#include <memory>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The factors of one matrix. W: double or complex<double>.
template <class W>
class lu_factors {
  public:
    virtual ~lu_factors() = default;
    /// x = (L U)^-1 x. One thread; several may call it at once.
    virtual void solve(std::span<W> x) const = 0;
    [[nodiscard]] virtual std::int64_t entries() const = 0;  ///< of L and U
};

/// L U = P A, rows exchanged where the diagonal is below a tenth of its column's largest entry; A's
/// columns ascend. Deterministic.
/// Throws   argument_error where A is numerically singular (a pivot is zero); std::bad_alloc where
///          the memory does not suffice.
/// Source   Demmel, Eisenstat, Gilbert, Li and Liu 1999, doi:10.1137/S0895479895291765; Eigen's.
template <class W>
std::unique_ptr<lu_factors<W>> sparse_lu(const csr<W, host_view>& A);

}  // namespace nz
