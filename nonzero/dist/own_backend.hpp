// The backend of one rank alone, for what it computes by itself.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

/// The rank's backend, whose sums ask no other rank.
template <class B>
B alone(B on) {
    on.ranks = nullptr;
    return on;
}

/// The rank's threads that take its rows apart and help a setup on B.
inline cpu helpers(cpu on) { return {.threads = on.threads}; }
inline cpu helpers(gpu) { return {}; }

}  // namespace nz
