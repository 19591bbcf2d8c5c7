// The door to files: matrices and vectors in and out, whatever the format.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nonzero/matrix/symmetry.hpp"

namespace nz {

/// Type of the values of a file.
enum class field { real, integer, pattern, complex };

std::string_view name_of(field);     ///< as Matrix Market spells it
std::string_view name_of(symmetry);  ///< as Matrix Market spells it

struct read_options {
    int threads = 0;  ///< 0: as many as OpenMP offers
    /// Is told the fraction done, from the calling thread only and at most 20 times a second.
    std::function<void(double)> progress{};
};

/// Facts that a file tells before its entries.
struct file_info {
    std::string format;    ///< "matrix market", "npz", "petsc", "edge list", ...
    nz::shape shape;       ///< -1 x -1 where it does not say, as of an edge list
    std::int64_t entries;  ///< stored: of a symmetric file one triangle, duplicates counted; or -1
    nz::field field;
    nz::symmetry symmetry;
    bool dense;  ///< a Matrix Market array: every element is listed
};

/// Reads the header only, of an edge list the first edge. Throws as read.
file_info inspect(const std::string& path);

/// Reads a matrix. Content that says what it is decides: Matrix Market's banner, SciPy's .npz, a
/// MAT-file, PETSc's binary format, each under any name. Else the name's end does: an edge list,
/// METIS's graph, Rutherford-Boeing; each reader's header in nonzero/io/ says what it takes. Text
/// may be gzipped. "-" is standard input, and text in it that says nothing of itself an edge list;
/// "./-" is a file.
///
/// Duplicates are summed in the file's order, explicit zeros kept, symmetric files expanded. The
/// result is the same bit for bit whatever the number of threads. Integers are rounded to V. Throws
/// parse_error; a complex file into a real V is one. Throws unavailable where a MAT-file is met
/// without matio.
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

/// Names that a file gives the nodes of its graph, which are rows and columns.
struct node_names {
    std::vector<std::string> name;     ///< of every row; empty where nodes have numbers
    host_vector<std::int64_t> number;  ///< of every row; empty where row i is called i, or by name

    [[nodiscard]] std::string of(index row) const;
};

template <class V>
struct named_matrix {
    csr<V, host> A;
    node_names names;
};

/// The same with the names of an edge list's nodes; other files' nodes are called 0 to n - 1.
template <class V>
named_matrix<V> read_named(const std::string& path, const read_options& = {});

struct write_options {
    /// Matrix Market: the lower triangle where not general, which then stands for both. Whether A
    /// has that symmetry its values tell, as why_not_symmetric sees it.
    symmetry store = symmetry::general;
};

/// Writes .mtx, .mtx.gz, .npz or .petsc, by the name's end, or Matrix Market to standard output
/// where the path is "-". The file appears under its name when it is complete: what fails leaves an
/// older one as it was. Entries are written by rows with ascending columns, duplicates summed.
/// Throws argument_error where the name ends otherwise, A is no CSR or not of the symmetry asked
/// for; error where the file system refuses.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A, const write_options& = {});

/// Reads a vector: a Matrix Market file of one column or one row, array or coordinate.
/// Throws parse_error.
template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& = {});

/// Writes a Matrix Market array of one column, to .mtx, .mtx.gz or "-"; atomic, and throws, as
/// write.
template <class V>
void write_vector(const std::string& path, std::span<const V>);

}  // namespace nz
