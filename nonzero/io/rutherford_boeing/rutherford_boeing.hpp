// Rutherford-Boeing files, and the Harwell-Boeing files before them, plain or gzipped.
#pragma once

#include "nonzero/io/io.hpp"

namespace nz::rutherford_boeing {

/// Compressed columns in Fortran's fixed fields: pointers, row indices, values, each in the format
/// that the header's fourth line names.
///
/// - Types r, c, i (Rutherford-Boeing's integers) and p, of the symmetries u, s, h, z and r;
///   assembled ones only. Of a symmetric matrix one triangle is listed and both are kept.
/// - Right-hand sides, guesses and solutions behind a Harwell-Boeing matrix are not read.
/// - Numbers are read as the Fortran standard has it: formats of I, F, E, EN, ES, D and G with
///   groups, blanks nX, new lines / and scale factors kP; a point that is not written is where the
///   format has it, 1P scales numbers without exponent, blanks do not count, an empty field is 0.
///   Exponents may be 1.0D+02 and 1.0+102. Where a line has as many words as fields, blanks divide
///   them: SciPy's hb_write announces 25 characters of each number and writes 24.
/// - Duplicates are summed.
/// - Rows up to 2,147,483,647. What the header announces is allocated when it is met.
/// - A line of at most 1 MiB, as everywhere.
///
/// Throws parse_error.
/// Source: Duff, Grimes and Lewis, The Rutherford-Boeing sparse matrix collection, 1997.
template <class V>
csr<V, host> read(const std::string& path, const read_options& = {});

/// The header.
file_info inspect(const std::string& path);

}  // namespace nz::rutherford_boeing
