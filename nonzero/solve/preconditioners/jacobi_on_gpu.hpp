// Jacobi's preconditioner of a diagonal in a GPU's memory.
#pragma once

#include "nonzero/core/device_array.hpp"
#include "nonzero/formats/linear_operator.hpp"

namespace nz {

/// 1 / d_i, or 1 / |d_i|. bad_row: the first where this is not finite or d_i is 0; -1: there is
/// none. Waits for on.stream.
template <class V>
device_array<V> inverse_of(gpu on, device_span<V> diagonal, bool of_magnitudes,
                           std::int64_t& bad_row);

/// As jacobi of a matrix on the CPU, of a diagonal in the GPU's memory, or of its magnitudes; real
/// values.
template <class V>
std::unique_ptr<linear_operator<V, gpu>> jacobi_of(gpu on, device_span<V> diagonal,
                                                   bool of_magnitudes);

}  // namespace nz
