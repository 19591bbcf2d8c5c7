// What a matrix is: the few numbers from which every format tells its cost.
#pragma once

#include "nonzero/formats/csr.hpp"

namespace nz {

/// Computed in parallel on the CPU, O(nnz). A must pass validate.
template <class V>
matrix_stats compute_stats(const csr<V, host_view>& A);

}  // namespace nz
