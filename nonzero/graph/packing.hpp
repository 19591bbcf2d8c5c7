// Items of whole sizes into bins of limited room.
#pragma once

#include <optional>

#include "nonzero/core/space.hpp"

namespace nz {

/// The bin of each item, so that none holds more than its room; nothing where no such packing was
/// found. Largest first into the bin with most room left; where that fails, by subset sums for two
/// bins (exact up to a room of 2^25 and 2^26 steps, room times distinct sizes), and by a search of
/// limited length for more, as bin packing is NP-complete. Deterministic.
///
/// @param sizes  positive, descending
/// Throws argument_error where sizes do not descend to 1 at least.
/// Source: Graham 1969; Garey and Johnson 1979.
std::optional<host_vector<index>> pack(std::span<const index> sizes,
                                       std::span<const std::int64_t> rooms);

}  // namespace nz
