// MATLAB's MAT-files of version 5, read by matio.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::matlab {

/// Reads the first variable that is a sparse matrix, or a struct whose field A is one, as the
/// SuiteSparse collection's `Problem`. Values of any type; logical ones are 1. Duplicates are
/// summed. Files of version 7.3, which are HDF5, are not read: MATLAB's `save -v7` writes 5.
///
/// matio is looked for when it is first asked for. Throws parse_error; unavailable where this build
/// or this machine has no matio.
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

/// Size and kind of that variable; how many entries it has is not known before they are read.
file_info inspect(const std::string& path);

/// Why there is no matio, or "".
std::string why_no_matio();

}  // namespace nz::matlab
