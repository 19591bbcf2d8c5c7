// Data of the unknowns in a rank's halo, from the ranks that own them.
#pragma once

#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Values of the halo's columns from the ranks that own them, in the halo's order. sent: `width`
/// numbers for each of h.sent. Called by all ranks.
template <class T>
host_vector<T> values_of_halo(const communicator& ranks, const halo& h, std::span<const T> sent,
                              std::size_t width = 1) {
    std::vector<host_vector<T>> to(std::size_t(ranks.size()));
    for (const halo_segment& s : h.sends) {
        const auto mine = sent.subspan(s.first * width, s.count * width);
        to[std::size_t(s.peer)].assign(mine.begin(), mine.end());
    }
    host_vector<T> all;
    all.reserve(h.columns.size() * width);
    for (const auto& list : exchanged(ranks, to)) all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// The rows of a matrix that is shared out as the halo's columns are, those of the halo in its
/// order. sent: the row of each of h.sent, columns numbered as in the whole matrix. Called by all
/// ranks.
template <class V>
csr<V, host> rows_of_halo(const communicator& ranks, const halo& h, const csr<V, host_view>& sent);

}  // namespace nz
