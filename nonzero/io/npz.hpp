// SciPy's sparse .npz files (scipy.sparse.save_npz): the door to Python.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::npz {

/// Reads csr, csc and coo, compressed or not, of either byte order; indices of 4 or 8 bytes;
/// booleans, integers, floats of 4 and 8 bytes and complex numbers of twice that. Columns are
/// sorted and duplicates summed. Sizes are held against the file's before anything is allocated.
file_info inspect(const std::string& path);
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

/// Writes csr, uncompressed, which scipy.sparse.load_npz reads.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A);

}  // namespace nz::npz
