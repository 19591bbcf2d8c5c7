// The pseudo-inverse of a small hermitian matrix, for the coarsest level.
#pragma once

#include <limits>
#include <type_traits>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The Moore-Penrose inverse of a hermitian positive semidefinite A as a matrix with every entry
/// stored, exactly hermitian; O(n^3). What A sends to zero, but for rounding errors of V, it sends
/// to zero as well: a right-hand side that is not quite a product of A cannot make a solution of
/// any size of it. Computed in double. Same bits for any number of threads.
/// Source: the sweep operator, Goodnight 1979, doi:10.2307/2683825, the largest pivot first.
template <class V>
csr<V, host> pseudo_inverse(cpu on, const csr<V, host_view>& A);

/// The same, to the bit, of a matrix in a GPU's memory, where it is regular and has at most 512
/// rows: else empty, 0 x 0. Waits for on.stream.
template <class V>
csr<V, device> regular_inverse(gpu on, const csr<V, device_view>& A);

/// The share of a singular matrix's diagonal entry that rounding errors leave. On the coarsest
/// levels of singular matrices of up to 10^6 rows, 2e3 n eps and less was left, of regular ones
/// 5e10 n eps and more; in single precision the two meet at some hundreds
/// (docs/experiments/multigrid.md).
template <class V>
double left_by_rounding(index n) {
    constexpr double times = std::is_same_v<real<V>, float> ? 16 : 1e4;
    return times * double(n) * double(std::numeric_limits<real<V>>::epsilon());
}

}  // namespace nz
