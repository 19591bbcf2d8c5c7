// Matrix Market files, plain or gzipped: the exchange format of the SuiteSparse collection.
#pragma once

#include <memory>

#include "nonzero/io/matrix_market/matrix_market_header.hpp"

namespace nz::matrix_market {

/// Input that the reader accepts, where files in the wild differ:
///
/// - A UTF-8 byte order mark at the start.
/// - Banner in any case; real, double, integer, unsigned-integer, complex and pattern; comments
///   (%) and blank lines anywhere; LF or CRLF; any blanks; nothing behind an entry on its line.
/// - Sizes of zero. Sizes up to 2,147,483,647.
/// - A symmetric file's entries from either triangle; an entry off the diagonal stands for two,
///   wherever it lies, so that a file with both triangles sums them, as SciPy's reader does.
/// - A skew-symmetric file's diagonal entries, kept as they are, as SciPy's reader does.
/// - Indices and sizes with leading zeros, however many. Fortran's exponents: 1.0D+02 is 1.0E+02.
/// - NaN and Inf. A value beyond V's range (1e400) is an error, one below it (1e-400) rounds to 0.
/// - Of an array, all elements that are not zero; of a symmetric array the lower triangle is
///   listed, column by column, of a skew-symmetric one without the diagonal.
/// - A line of at most 1 MiB, comments too; up to 256 MiB of them before the sizes.
file_info inspect(const std::string& path);

/// Text is read and parsed in pieces of about chunk_bytes (0: by the file's size). For tests: any
/// size gives the same.

template <class V>
csr<V, host> read(const std::string& path, const read_options& = {}, std::size_t chunk_bytes = 0);
template <class V>
host_vector<V> read_vector(const std::string& path, const read_options& = {},
                           std::size_t chunk_bytes = 0);

/// A part of a file's body, in the file's order; what stands for two entries is two of them.
template <class V>
struct body_part {
    host_vector<index> row, col;  ///< of an array empty, until `place_array` fills them
    host_vector<V> val;
    std::int64_t entries = 0;  ///< lines with an entry
    bool faulty = false;       ///< a line is none: it ends before
};

/// The entries of the lines that start in the bytes [first, last) of a file that is not compressed,
/// first no smaller than the header's `body`, in pieces of a MB or two. Parts that touch have
/// every line once between them. Throws parse_error where the file cannot be read at all.
template <class V>
class part_reader {
  public:
    part_reader(const std::string& path, const header& h, std::int64_t first, std::int64_t last);
    part_reader(const part_reader&) = delete;
    part_reader& operator=(const part_reader&) = delete;
    ~part_reader();
    /// The next piece in place of what `to` holds. False, with an empty piece, after the last one
    /// and after a faulty one.
    bool next(body_part<V>& to);

  private:
    struct state;
    std::unique_ptr<state> state_;
};
/// All pieces in one.
template <class V>
body_part<V> read_part(const std::string& path, const header& h, std::int64_t first,
                       std::int64_t last);
/// Where an array's elements belong, `before` of which come in other parts. Zeros are dropped, as
/// `read` drops them.
template <class V>
void place_array(const header& h, std::int64_t before, body_part<V>&);

/// Throws as `read` what is wrong with a file; keeps nothing of it.
template <class V>
void check(const std::string& path);

/// Writes every value with the fewest digits that read back as the same bits. Gzips where asked.
template <class V>
void write(const std::string& path, const csr<V, host_view>& A, symmetry store, bool gzip);
template <class V>
void write_vector(const std::string& path, std::span<const V>, bool gzip);

}  // namespace nz::matrix_market
