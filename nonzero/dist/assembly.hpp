// A shared-out matrix from entries that come in rounds, so that no rank holds them all at once.
#pragma once

#include "nonzero/dist/entries.hpp"

namespace nz {

/// Who has which rows, and how many entries each of this rank's rows has.
struct counted_rows {
    shares rows;
    host_vector<index> lengths;
};

/// The first of two passes over the entries: how many every row has.
class row_counter {
  public:
    row_counter(const communicator& ranks, index rows);
    /// The rows of some entries of this rank. Called by all ranks, as often by each; may be empty.
    void add(std::span<const index> rows);
    /// In balanced_shares, where each entry counts that was added. Called by all ranks, once.
    counted_rows finish() const;

  private:
    const communicator& ranks_;
    shares counted_;  ///< who counts which rows
    host_vector<index> lengths_;
};

/// The second pass: every entry goes to its place in the rows of its rank. Beside them a rank holds
/// the entries of a round, and 2 bytes an entry and 12 a row.
template <class V>
class row_filler {
  public:
    /// Throws argument_error on more than 65,536 ranks.
    row_filler(const communicator& ranks, counted_rows, index cols);
    /// Some entries of this rank. Called by all ranks, as often by each; may be empty. Throws
    /// argument_error, on all ranks, where a row gets more entries than were counted.
    void add(std::span<const index> row, std::span<const index> col, std::span<const V> val);
    /// As `assembled`: columns ascend; entries in one place are summed in rank order and, of one
    /// rank, in the order added. Called once. Throws argument_error, on all ranks, where a row has
    /// fewer entries than were counted.
    matrix_slice<V> finish();

  private:
    void place(const entry<V>&, int sender);
    void sort_row(std::size_t begin, std::size_t end);

    const communicator& ranks_;
    shares rows_;
    csr<V, host> own_;  ///< its row_ptr is made at last
    host_vector<offset> ptr_{0};
    host_vector<index> left_;            ///< entries of each row that are still to come
    host_vector<std::uint16_t> sender_;  ///< of each entry
};

}  // namespace nz
