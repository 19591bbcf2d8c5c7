// Stats of a matrix: the few numbers from which every format tells its cost.
#pragma once

#include "nonzero/formats/matrix_stats.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// Computed in parallel on the CPU, O(nnz). Of A's canonical copy, where its rows do not ascend.
/// The size of packed is that of what is built for the backend `of`. Throws argument_error where A
/// is no CSR.
template <class V, class B = cpu>
matrix_stats compute_stats(const ascending<V>& A, B of = {});
template <class V, class B = cpu>
matrix_stats compute_stats(const csr<V, host_view>& A, B of = {}) {
    return compute_stats(ascending(A), of);
}

/// The stats of a CSR in GPU memory, computed on the GPU, that the methods built on a GPU tell
/// their costs from: all but diagonals, bandwidth, blocks, imbalance and the widths of other than
/// neighbouring 32 rows, which are left as they are. The same numbers as on the CPU, but for
/// sectors, which are an estimate from a sample, always the same, of more than 256 groups of 256
/// rows (of fewer, where rows are long). 34 bytes a row of scratch memory. Waits for the GPU.
/// Throws argument_error where A is no CSR, device_error where the memory does not suffice,
/// unavailable without CUDA. Real values.
template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>& A);

}  // namespace nz
