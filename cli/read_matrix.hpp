// Reading a matrix as a command does: with a progress bar where someone watches.
#pragma once

#include <string>

#include "nonzero/io/file_formats.hpp"
#include "nonzero/io/io.hpp"

namespace nz::cli {

/// The matrix in the file, in canonical CSR. A bar on stderr shows how far it is where that is a
/// terminal and reading takes more than a second. Throws parse_error, and argument_error where a
/// complex matrix would have to become a real one. threads: 0 for as many as there are.
template <class V>
csr<V, host> read_matrix(const std::string& path, int threads = 0);

/// The same, with what the file calls the nodes.
template <class V>
named_matrix<V> read_named_matrix(const std::string& path, int threads = 0);

/// Help of an argument that names such a file, from nz::file_formats; and help on all of them, a
/// line each.
std::string matrix_help();
std::string formats_help();

}  // namespace nz::cli
