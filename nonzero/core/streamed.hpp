// From which size on a matrix bypasses a GPU's first-level cache.
#pragma once

#include <cstddef>

namespace nz {

/// A matrix of more bytes than this bypasses L1 (L1::no_allocate): packed.warp then takes 0.79 of
/// the time on atmosmodd_like, 0.86 on fem_thermal3d_p1. Smaller ones, which stay in the L2 cache
/// from product to product, lose by it: xenon1 would take 1.39 times as long (H200,
/// docs/decisions/locality.md).
inline constexpr std::size_t streamed_bytes = std::size_t(32) << 20;

}  // namespace nz
