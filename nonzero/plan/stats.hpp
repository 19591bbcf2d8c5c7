// What a matrix is: the few numbers from which every format tells its cost.
#pragma once

#include "nonzero/formats/csr.hpp"
#include "nonzero/formats/device_analysis.hpp"

namespace nz {

/// Computed in parallel on the CPU, O(nnz). A must pass validate.
template <class V>
matrix_stats compute_stats(const csr<V, host_view>& A);

/// The same numbers of a CSR that lies on the GPU, computed there, with 34 bytes a row and one a
/// diagonal of scratch memory. Waits for the GPU. Throws argument_error where row_ptr or the
/// columns of a row do not ascend or leave their range, device_error where the memory does not
/// suffice, unavailable without CUDA. Real values. `known` gets what building may use. Only
/// `blocks` may differ, of more than 64 groups of 256 rows: all nnz, where a sample says that
/// blocks of no side come near the bytes of CSR.
template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>& A,
                           device_analysis<V>* known = nullptr);

}  // namespace nz
