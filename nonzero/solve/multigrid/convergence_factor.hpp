// The speed of multigrid on its own.
#pragma once

#include "nonzero/formats/linear_operator.hpp"

namespace nz {

/// By how much one cycle M of multigrid reduces the error, in the end: the largest eigenvalue of
/// I - M A in magnitude, from `steps` of the power method with a fixed start.
template <class V, class B>
double convergence_factor(B on, const linear_operator<V, B>& A, const linear_operator<V, B>& M,
                          int steps = 30);

}  // namespace nz
