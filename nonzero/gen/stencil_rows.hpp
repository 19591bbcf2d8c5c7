// Some rows of the stencils' matrices: for processes that share one out, and hold no more.
#pragma once

#include "nonzero/core/backend.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

// The rows [first, last) of laplace2d, laplace3d and laplace27, columns numbered as in the whole
// matrix. All throw as those do, and argument_error where the range is not inside the matrix.

template <class V>
csr<V, host> laplace2d_rows(index nx, index ny, range rows);
template <class V>
csr<V, host> laplace3d_rows(index nx, index ny, index nz, range rows);
template <class V>
csr<V, host> laplace27_rows(index nx, index ny, index nz, range rows);

}  // namespace nz
