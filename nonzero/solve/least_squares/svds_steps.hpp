// The fused vector kernels of svds, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

/// value = |x|^2
template <class V>
struct square_step {
    using scalars = one_scalar<double>;
    using totals = sums<double, 1>;
    const V* x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const { return {{norm2(x[i])}}; }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

}  // namespace nz
