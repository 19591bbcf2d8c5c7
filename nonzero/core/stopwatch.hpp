// Wall-clock time.
#pragma once

#include <chrono>

namespace nz {

using steady_clock = std::chrono::steady_clock;

inline double seconds_since(steady_clock::time_point start) {
    return std::chrono::duration<double>(steady_clock::now() - start).count();
}

}  // namespace nz
