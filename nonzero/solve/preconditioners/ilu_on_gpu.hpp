// ILU(0) whose factors are made in a GPU's memory.
#pragma once

#include <optional>

#include "nonzero/solve/preconditioners/triangular/triangular_on_gpu.hpp"

namespace nz {

template <class V>
struct ilu_on_gpu {
    device_triangle<V> lower, upper;
    std::int64_t zero_row = -1, overflowing_row = -1;  ///< the first; -1: none
    std::int64_t shifted_pivots = 0, first_shifted = -1;
};

/// L U = A on the pattern of A; the same bits as on the CPU. None where a diagonal entry is missing
/// or rows stand on more levels than that: a CPU is faster at long chains. Waits for the GPU.
/// A: square, columns ascending, finite.
template <class V>
std::optional<ilu_on_gpu<V>> factored_on_gpu(gpu on, csr<V, device> A, double least_pivot,
                                             index most_levels);

}  // namespace nz
