// Measures of an order: is it one, and how near to the diagonal it brings the entries.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Throws argument_error unless `order` has each of 0 to n - 1 once.
void check_order(const host_vector<index>& order, index n);

/// How near to the diagonal a square matrix's entries are.
struct nearness {
    std::int64_t bandwidth = 0;  ///< largest |column - row|
    std::int64_t profile = 0;    ///< sum over the rows of row - column of its first entry, where
                                 ///< that is before the diagonal
    double in_blocks = 1;        ///< share of the entries in `blocks` equal blocks on the diagonal
};
/// Throws argument_error where A is not square or blocks not positive.
template <class V>
nearness measure_nearness(const csr<V, host_view>& A, index blocks);

}  // namespace nz
