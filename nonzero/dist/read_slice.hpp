// Each rank reads its own part of a file.
#pragma once

#include <string>

#include "nonzero/dist/slice.hpp"
#include "nonzero/io/io.hpp"

namespace nz {

/// This rank's rows of the matrix in a file that every rank can open, shared out in
/// ranges of about as many entries each, where an entry that the file lists twice counts twice.
/// Every row has the bits that `nz::read` gives it.
///
/// A Matrix Market file is cut at bytes: each rank parses, twice and a little at a time, the lines
/// that start in its part, and sends entries to the ranks whose rows they are in. Of a PETSc file,
/// and of a SciPy file (.npz) in csr that is not compressed, each rank reads the lengths of its
/// rows, then its rows. No rank holds much more than its rows. Files of other kinds, and what is
/// compressed, every rank reads as a whole, and keeps its rows; of an array it holds its part.
///
/// Called by all ranks. Throws on all of them what one meets: parse_error as `nz::read`, with the
/// same text (of a PETSc or SciPy file perhaps another of its faults); out_of_memory.
template <class V>
matrix_slice<V> read_slice(const communicator& ranks, const std::string& path);

/// This rank's elements of the vector in a Matrix Market file. Called by all ranks, and throws, as
/// above; argument_error where the file holds another number of elements.
template <class V>
host_vector<V> read_vector_slice(const communicator& ranks, const std::string& path,
                                 const shares& all);

}  // namespace nz
