// The fused kernels behind vector_space's operations.
#pragma once

#include "nonzero/vector/vectors.hpp"

namespace nz {

/// y_i = alpha
template <class V>
struct fill_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    V alpha;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        y[i] = alpha;
        return {};
    }
};

/// y = alpha x + beta y, y not read where beta is 0.
template <class V>
struct axpby_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    V alpha;
    const V* x;
    V beta;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const V ax = product(alpha, x[i]);
        y[i] = beta == V(0) ? ax : ax + product(beta, y[i]);
        return {};
    }
};

/// y_i = d_i x_i
template <class V>
struct multiply_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const V *d, *x;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        y[i] = product(d[i], x[i]);
        return {};
    }
};

/// value = the sum of conj(x_i) y_i
template <class V>
struct dot_step {
    using scalars = one_scalar<V>;
    using totals = sums<V, 1>;
    const V *x, *y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{product(conjugated(transposition::conjugate_transpose, x[i]), y[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

}  // namespace nz
