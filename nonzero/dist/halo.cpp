#include "nonzero/dist/halo.hpp"

#include "nonzero/dist/exchange.hpp"

namespace nz {

halo make_halo(const communicator& ranks, const shares& cols, host_vector<index> columns) {
    halo h{std::move(columns), {}, {}, {}};
    std::vector<host_vector<index>> wanted(std::size_t(ranks.size()));
    for (std::size_t k = 0; k < h.columns.size();) {
        const int peer = cols.owner(h.columns[k]);
        const std::size_t first = k;
        while (k < h.columns.size() && h.columns[k] < cols.of(peer).last) ++k;
        h.receives.push_back({peer, first, k - first});
        wanted[std::size_t(peer)].assign(h.columns.begin() + std::ptrdiff_t(first),
                                         h.columns.begin() + std::ptrdiff_t(k));
    }
    const auto asked = exchanged(ranks, wanted);
    const auto own = index(cols.of(ranks.rank()).first);
    for (int peer = 0; peer < ranks.size(); ++peer) {
        const auto& list = asked[std::size_t(peer)];
        if (list.empty()) continue;
        h.sends.push_back({peer, h.sent.size(), list.size()});
        for (const index j : list) h.sent.push_back(j - own);
    }
    return h;
}

}  // namespace nz
