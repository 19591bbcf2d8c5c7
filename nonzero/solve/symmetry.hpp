// Whether a matrix is what conjugate gradients need, as far as that can be seen at once.
#pragma once

#include <string>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Two entries that should be each other's conjugates differ by at most this much of the largest
/// entry: what sums in another order do to the two halves of an assembled matrix is far below.
inline constexpr double symmetry_tolerance = 1e-10;

/// Empty where A is symmetric (hermitian) up to symmetry_tolerance (of float values: 1e-4), its
/// diagonal positive; else why not, in one sentence that names a place. Rows counted from 0.
template <class V>
std::string why_not_definite(const csr<V, host_view>& A);

/// A is square and symmetric (hermitian) up to the same, whatever its diagonal.
template <class V>
bool is_symmetric(const csr<V, host_view>& A);

}  // namespace nz
