// The door to files: matrices and vectors in and out, whatever the format.
#pragma once

#include <functional>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// What the values of a file are.
enum class field { real, integer, pattern, complex };
/// Which entries of a file stand for two.
enum class symmetry { general, symmetric, skew_symmetric, hermitian };

std::string_view name(field);     ///< as Matrix Market spells it
std::string_view name(symmetry);  ///< as Matrix Market spells it

struct read_options {
    int threads = 0;  ///< 0: as many as OpenMP offers
    /// Is told the fraction done, from the calling thread only and at most 20 times a second.
    std::function<void(double)> progress{};
};

/// What a file says of itself before its entries.
struct file_info {
    std::string format;  ///< "matrix market", "npz" or "petsc"
    nz::shape shape;
    std::int64_t entries;  ///< stored: of a symmetric file one triangle, duplicates counted
    nz::field field;
    nz::symmetry symmetry;
    bool dense;  ///< a Matrix Market array: every element is listed
};

/// Reads the header only. What the file is follows from its content, not from its name.
/// Throws parse_error.
file_info inspect(const std::string& path);

/// Reads a matrix: Matrix Market, plain or gzipped (see matrix_market.hpp), SciPy's .npz (see
/// npz.hpp), or PETSc's binary format (see petsc.hpp); which of them follows from the content.
/// Duplicates are summed in the file's order, explicit zeros kept, symmetric files expanded. The
/// result is the same bit for bit whatever the number of threads. Integers are rounded to V. Throws
/// parse_error; a complex file into a real V is one.
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

struct write_options {
    symmetry store = symmetry::general;  ///< Matrix Market: the lower triangle where not general
};

/// Writes .mtx, .mtx.gz, .npz or .petsc, by the name's end. The file appears under its name when
/// it is complete: what fails leaves an older one as it was. Entries are written by rows with
/// ascending columns, duplicates summed. Throws argument_error where the name ends otherwise, A is
/// no CSR or not of the symmetry asked for; error where the file system refuses.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A, const write_options& = {});

/// Reads a vector: a Matrix Market file of one column or one row, array or coordinate.
/// Throws parse_error.
template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& = {});

/// Writes a Matrix Market array of one column, to .mtx or .mtx.gz; atomic, and throws, as write.
template <class V>
void write_vector(const std::string& path, std::span<const V>);

}  // namespace nz
