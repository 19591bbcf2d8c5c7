// Lists from every rank to every other: what distributed matrices are set up by.
#pragma once

#include "nonzero/core/communicator.hpp"
#include "nonzero/core/space.hpp"

namespace nz {

/// Every rank's list for this one, in rank order; to[r] is this one's list for rank r. Called by
/// all ranks; the lists may be empty. Holds size() squared numbers for a while.
template <class T>
std::vector<host_vector<T>> exchanged(const communicator& ranks,
                                      const std::vector<host_vector<T>>& to) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto parts = std::size_t(ranks.size()), me = std::size_t(ranks.rank());
    std::vector<std::uint64_t> mine(parts), all(parts * parts);
    for (std::size_t r = 0; r < parts; ++r) mine[r] = to[r].size();
    ranks.all_gather(std::as_bytes(std::span(mine)), std::as_writable_bytes(std::span(all)));
    std::vector<host_vector<T>> from(parts);
    std::vector<communicator::message<const std::byte>> out;
    std::vector<communicator::message<std::byte>> in;
    for (std::size_t r = 0; r < parts; ++r) {
        if (r == me) continue;
        from[r].resize(all[r * parts + me]);
        if (!to[r].empty()) out.push_back({int(r), std::as_bytes(std::span(to[r]))});
        if (!from[r].empty()) in.push_back({int(r), std::as_writable_bytes(std::span(from[r]))});
    }
    ranks.start(out, in);
    from[me] = to[me];
    ranks.wait();
    return from;
}

}  // namespace nz
