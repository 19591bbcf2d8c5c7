// Rules of coarsening: whether there is a next level, and how it differs from the one before.
#pragma once

#include <algorithm>

#include "nonzero/core/space.hpp"

namespace nz {

/// The strength of a coarser level, whose couplings spread, over that of the finer one.
inline constexpr double coarser_strength = 0.2;
/// A coarser level must have at most this share of the rows of the level before it.
inline constexpr double worth_a_level = 0.8;
/// A coarser level may have at most this many times the finest level's entries, for each candidate
/// and unknown. A graph without geometry, such as a random one, couples all its aggregates: its
/// coarser levels would be dense.
inline constexpr double most_growth = 4;

/// Entries that a level may have.
inline offset most_entries(offset finest, index block, index candidates) {
    return offset(most_growth * double(finest) * std::max(1.0, double(candidates) / block));
}

}  // namespace nz
