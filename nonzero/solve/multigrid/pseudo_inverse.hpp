// The pseudo-inverse of a small hermitian matrix, for the coarsest level.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The Moore-Penrose inverse of a hermitian positive semidefinite A as a matrix with every entry
/// stored, exactly hermitian; O(n^3). What A sends to zero, but for rounding errors of V, it sends
/// to zero as well: a right-hand side that is not quite a product of A cannot make a solution of
/// any size of it. Computed in double. Same bits for any number of threads.
/// Source: the sweep operator, Goodnight 1979, doi:10.2307/2683825, the largest pivot first.
template <class V>
csr<V, host> pseudo_inverse(cpu on, const csr<V, host_view>& A);

}  // namespace nz
