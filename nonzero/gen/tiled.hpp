// A matrix of any size that looks like a given one everywhere: copies of it along the diagonal.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

///         | A . . |
///     B = | . A . |   for 3 copies. Columns ascend as they do in A. Parallel.
///         | . . A |
///
/// Throws argument_error where copies is below 1 or B's rows or columns exceed 2^31 - 1,
/// device_error where A and B exceed the memory.
template <class V>
csr<V, host> tiled(const csr<V, host_view>& A, std::int64_t copies);

/// The fewest copies of A that hold that many entries. Throws argument_error where `entries` is
/// below 1 or A has none.
std::int64_t copies_for(std::int64_t entries, std::size_t nnz);

}  // namespace nz
