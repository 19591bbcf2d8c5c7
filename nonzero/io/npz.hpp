// SciPy's sparse .npz files (scipy.sparse.save_npz): the door to Python.
#pragma once

#include <optional>

#include "nonzero/core/backend.hpp"
#include "nonzero/io/io.hpp"

namespace nz::npz {

/// Reads csr, csc and coo, compressed or not, of either byte order; indices of 4 or 8 bytes;
/// booleans, integers, floats of 4 and 8 bytes and complex numbers of twice that. Columns are
/// sorted and duplicates summed. Sizes are held against the file's before anything is allocated.
file_info inspect(const std::string& path);
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

/// A matrix in csr whose arrays are not compressed, so that its rows can be read by parts.
struct stored_header {
    nz::shape shape;
    std::int64_t entries;
};
/// Empty where it is of another format, or compressed. Throws parse_error as `read`.
std::optional<stored_header> read_stored_header(const std::string& path);
/// The lengths of the rows [first, last). Throws parse_error as `read`.
host_vector<index> read_stored_lengths(const std::string& path, const stored_header&, range rows);
/// The rows with these lengths, behind that number of entries, as `read` has them; the archive's
/// checksums are not compared. Throws parse_error as `read`.
template <class V>
csr<V, host> read_stored_rows(const std::string& path, const stored_header&,
                              std::span<const index> lengths, std::int64_t before);

/// Writes csr, uncompressed, which scipy.sparse.load_npz reads.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A);

}  // namespace nz::npz
