// Whether a matrix is its own mirror image, by its values.
#pragma once

#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// Relation of an entry across the diagonal to the one that it faces.
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

/// Whether A is square, finite and symmetric (hermitian), up to 1e-10 of the largest entries of
/// both rows (1e-4 in single precision), whatever its diagonal.
template <class V>
bool is_symmetric(const ascending<V>& A);
/// The same of any CSR, duplicates summed. Throws as `ascending`.
template <class V>
bool is_symmetric(const csr<V, host_view>& A) {
    return is_symmetric(ascending(A));
}

}  // namespace nz
