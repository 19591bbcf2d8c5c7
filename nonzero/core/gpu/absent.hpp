// The stand-in for a GPU function, in a build without CUDA.
#pragma once

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"

namespace nz {

/// Throws unavailable; the value is never returned.
template <class T>
T absent(gpu on) {
    require_gpu(on);
    return T{};
}

}  // namespace nz
