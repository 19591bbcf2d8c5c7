// What a matrix is: the few numbers from which every format tells its cost.
#pragma once

#include "nonzero/formats/csr.hpp"
#include "nonzero/formats/device_analysis.hpp"

namespace nz {

/// Computed in parallel on the CPU, O(nnz). A must pass validate.
template <class V>
matrix_stats compute_stats(const csr<V, host_view>& A);

/// Of a CSR that lies on the GPU, what the methods that are built there tell their costs from,
/// computed there: all but diagonals, bandwidth, blocks, imbalance and the widths of other than
/// neighbouring 32 rows, which are left as they are. The same numbers as on the CPU, but for
/// sectors, which are an estimate from a sample, always the same, of more than 256 groups of 256
/// rows (of fewer, where rows are long). 34 bytes a row of scratch memory. Waits for the GPU.
/// Throws argument_error where row_ptr or the columns of a row do not ascend or leave their range,
/// device_error where the memory does not suffice, unavailable without CUDA. Real values. `known`
/// gets what building may use.
template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>& A,
                           device_analysis<V>* known = nullptr);

}  // namespace nz
