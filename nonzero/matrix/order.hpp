// The order of the columns in the rows of a CSR: the look at it, and a copy that has it.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// The order of the columns in every row. A CSR of any order, a column twice in a row included, is
/// a matrix like any other: entries in one place add up.
enum class row_order { ascending, any };

/// Throws argument_error, saying where, unless the arrays are as long as the shape wants them;
/// reads no element of them.
template <class V, class S>
void check_sizes(const csr<V, S>& A);

/// Looks at every index once, in parallel: O(rows + nnz), no allocation. Throws argument_error,
/// saying where, unless row_ptr ascends from 0 to the number of entries and every column is in
/// range.
template <class V>
[[nodiscard]] row_order order_of(cpu on, const csr<V, host_view>& A);
/// The same of a CSR in GPU memory, read on the GPU. Waits for on.stream. Also throws:
/// device_error, unavailable without CUDA.
template <class V>
[[nodiscard]] row_order order_of(gpu on, const csr<V, device_view>& A);

/// The number of times that this process has read a matrix's indices on the CPU to learn their
/// order: for tests.
std::int64_t order_checks();

/// The canonical copy of a CSR that is known to be one: columns ascending, duplicates summed in the
/// order given. On a GPU made there by two stable sorts, so that the two agree bit for bit.
template <class V>
csr<V, host> ordered_copy(cpu on, const csr<V, host_view>& A);
template <class V>
csr<V, device> ordered_copy(gpu on, const csr<V, device_view>& A);

}  // namespace nz
