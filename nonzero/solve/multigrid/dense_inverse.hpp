// The inverse of a small symmetric matrix, for the coarsest level.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The inverse of a symmetric positive semidefinite A as a matrix with every entry stored, exactly
/// symmetric; O(n^3). Where A is singular to rounding, the unknowns that depend on those before
/// them get zero rows and columns: the inverse of the rest. Computed in double. Same bits for any
/// number of threads.
/// Source: the sweep operator, Goodnight 1979, doi:10.2307/2683825.
template <class V>
csr<V, host> dense_inverse(cpu on, const csr<V, host_view>& A);

}  // namespace nz
