// Triplets that arrive in pieces, from several threads, made into CSR.
#pragma once

#include <map>
#include <mutex>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Builds a matrix from numbered pieces of triplets. Duplicates are summed in the order of the
/// pieces' numbers and, within a piece, of its entries: the result depends neither on which thread
/// adds which piece when, nor on the number of threads. Explicit zeros are kept.
///
/// The rows are cut into bands. A piece is sorted by band when it is added, while it is in the
/// cache; finish() then makes the bands one by one, each small enough for the cache again, from
/// the stretch that every piece has for it. No thread needs counters for all rows.
///
/// Holds   |V| + 6 bytes an entry until finish() is done, 6 where all values are one.
template <class V>
class assembler {
  public:
    /// @param expected  entries, roughly: how finely the rows are cut, nothing else
    assembler(nz::shape shape, std::int64_t expected);

    /// Adds a piece; several threads may, each number once. Indices must lie inside the shape.
    /// An empty `val` stands for ones. Below 2^32 entries.
    void add(std::int64_t number, std::span<const index> row, std::span<const index> col,
             std::span<const V> val);

    /// The matrix. Call it once, when all pieces are added. Threads as in cpu.
    csr<V, host> finish(int threads = 0);

  private:
    struct piece {
        host_vector<std::uint32_t> start;  ///< where each band's entries start; bands + 1
        host_vector<std::uint16_t> row;    ///< within its band
        host_vector<index> col;
        host_vector<V> val;  ///< empty where all are one
    };
    struct band;

    template <class P>
    csr<V, host> finish_as(int threads, const host_vector<offset>& band_start);

    nz::shape shape_;
    int shift_ = 0;  ///< row >> shift_ is the band
    std::size_t bands_ = 1;
    std::mutex mutex_;
    std::map<std::int64_t, piece> pieces_;
};

/// Scratch memory that order_row keeps between calls.
template <class V>
struct row_scratch {
    host_vector<std::uint64_t> key;
    host_vector<V> val;
};

/// Orders the entries of one row by column, sums equal columns in the order given, and returns how
/// many are left.
template <class V>
std::size_t order_row(std::span<index> col, std::span<V> val, row_scratch<V>&);

}  // namespace nz
