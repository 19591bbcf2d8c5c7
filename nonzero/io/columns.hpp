// Compressed columns, as Fortran's and MATLAB's files hold them, made rows.
#pragma once

#include <span>

#include "nonzero/io/io.hpp"

namespace nz {

/// The matrix whose column j holds entries ends[j - 1] to ends[j], of which row[k] is the row, from
/// 0. An empty `val` stands for ones. Not a general matrix lists one triangle. Duplicates are
/// summed in their order. All must be valid: the caller has read them from a file and checked.
template <class V>
csr<V, host> from_columns(nz::shape shape, symmetry s, std::span<const offset> ends,
                          std::span<const index> row, std::span<const V> val, int threads);

}  // namespace nz
