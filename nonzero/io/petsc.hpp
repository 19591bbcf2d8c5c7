// PETSc's binary files of sparse matrices: what MatView writes, and MatLoad reads.
#pragma once

#include "nonzero/core/backend.hpp"
#include "nonzero/io/io.hpp"

namespace nz::petsc {

/// Numbers are big-endian: 1211216, rows, columns, entries; the length of every row; the columns;
/// the values, double or complex double. Indices take 32 bits, or 64 where the first number does,
/// as in builds of PETSc with such indices. Other objects may follow, vectors and index sets and
/// matrices, and are not read. By them the values are known as real or complex: the objects begin
/// where the values end, or the file ends there. No dense matrices, no single precision, no block
/// sizes (the .info file beside is not read).
struct header {
    index rows = 0, cols = 0;
    std::int64_t entries = 0;
    bool is_complex = false;
    std::int64_t index_bytes = 4;
};

/// Whether the file begins with an object of PETSc's. Throws parse_error where it cannot be opened.
bool is_petsc(const std::string& path);

/// Throws parse_error where the file does not begin with a matrix, is shorter than it says, or does
/// not show whether its values are complex.
header read_header(const std::string& path);
file_info inspect(const std::string& path);

/// The lengths of the rows [first, last). Throws parse_error where one is negative or above cols.
host_vector<index> read_lengths(const std::string& path, const header&, range rows);
/// The rows [first, last), columns ascending, with their lengths and the number of entries in rows
/// before them. Throws parse_error for a column outside the matrix, values that V cannot hold, and
/// a file that ends too soon.
template <class V>
csr<V, host> read_rows(const std::string& path, const header&, std::span<const index> lengths,
                       std::int64_t before);

template <class V>
csr<V, host> read(const std::string& path);

/// Atomic, as nz::write. Throws argument_error where A has more than 2^31 - 1 entries.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A);

}  // namespace nz::petsc
