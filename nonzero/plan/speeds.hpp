// The time that a product takes on a machine of these speeds.
#pragma once

#include "nonzero/formats/cost.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/machine_speeds.hpp"

namespace nz {

/// The speeds of any GPU; only convert_bytes_per_s, which is a CPU's, is 0.
machine_speeds speeds_of(const known_gpu&);

/// Whether every speed that a plan needs is set, positive and finite.
bool is_usable(const machine_speeds&);

/// The rate at that size, interpolated between the two around it, in the logarithm of the size.
double rate_for(const std::vector<machine_speeds::rate_at>&, double bytes);

/// Time of one product.                                                                       [s]
double predicted_seconds(const estimate&, const matrix_stats&, const machine_speeds&);
/// The time to build on the CPU from a CSR of `csr_bytes`, and to upload where the plan is for a
/// GPU.
///                                                                                      [s]
double predicted_setup_seconds(const estimate&, double csr_bytes, const machine_speeds&);

}  // namespace nz
