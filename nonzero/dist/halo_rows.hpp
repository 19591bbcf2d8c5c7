// What a rank learns of the unknowns in its halo from those who own them.
#pragma once

#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/halo.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// What ranks tell of theirs about the columns of the halo, in the halo's order. own: `width`
/// numbers for each of this rank's own. Called by all ranks.
template <class T>
host_vector<T> values_of_halo(const communicator& ranks, const halo& h, std::span<const T> own,
                              std::size_t width = 1) {
    std::vector<host_vector<T>> to(std::size_t(ranks.size()));
    for (const halo_segment& s : h.sends)
        for (std::size_t k = s.first; k < s.first + s.count; ++k) {
            const auto mine = own.begin() + std::ptrdiff_t(std::size_t(h.sent[k]) * width);
            auto& list = to[std::size_t(s.peer)];
            list.insert(list.end(), mine, mine + std::ptrdiff_t(width));
        }
    host_vector<T> all;
    all.reserve(h.columns.size() * width);
    for (const auto& list : exchanged(ranks, to)) all.insert(all.end(), list.begin(), list.end());
    return all;
}

/// The rows of a matrix that is shared out as the halo's columns are, those of the halo in its
/// order. own: this rank's rows, columns numbered as in the whole matrix. Called by all ranks.
template <class V>
csr<V, host> rows_of_halo(const communicator& ranks, const halo& h, const csr<V, host_view>& own);

}  // namespace nz
