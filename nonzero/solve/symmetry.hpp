// Whether a matrix is what conjugate gradients need, as far as that can be seen at once.
#pragma once

#include "nonzero/matrix/symmetry.hpp"

namespace nz {

/// Empty where why_not_symmetric finds nothing and A's diagonal is positive; else why not, in one
/// sentence that names a place. Rows counted from 0.
template <class V>
std::string why_not_definite(const csr<V, host_view>& A);

}  // namespace nz
