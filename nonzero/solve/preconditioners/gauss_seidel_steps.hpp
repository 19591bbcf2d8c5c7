// The sweeps of Gauss-Seidel: into the order of the colours and back.
#pragma once

#include "nonzero/vector/vectors.hpp"

namespace nz {

/// y_k = d_k x_order(k)
template <class V>
struct gather_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const index* order;
    const V *d, *x;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t k, const scalars&) const {
        y[k] = product(d[k], x[order[k]]);
        return {};
    }
};

/// y_order(k) = x_k
template <class V>
struct scatter_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const index* order;
    const V* x;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t k, const scalars&) const {
        y[order[k]] = x[k];
        return {};
    }
};

}  // namespace nz
