// The fused kernels that pack and unpack what ranks exchange.
#pragma once

#include "nonzero/vector/vectors.hpp"

namespace nz {

/// to_k = x_at(k)
template <class V>
struct pack_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const index* at;
    const V* x;
    V* to;
    NZ_HOST_DEVICE totals element(std::int64_t k, const scalars&) const {
        to[k] = x[at[k]];
        return {};
    }
};

/// y_at(k) = y_at(k) + from_k; no index twice.
template <class V>
struct add_at_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const index* at;
    const V* from;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t k, const scalars&) const {
        y[at[k]] += from[k];
        return {};
    }
};

}  // namespace nz
