// The fused vector kernels of GMRES, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

/// Scalar products that one fused kernel takes at once.
template <class V>
inline constexpr int gmres_dots = int(max_sum_bytes / sizeof(wide_value<V>));

/// h_k = (v_k, w) for the `count` basis vectors from v on.
template <class V>
struct gmres_project {
    using scalars = krylov_state;
    using totals = sums<wide_value<V>, gmres_dots<V>>;
    const V *v, *w;
    std::int64_t n;  ///< from one basis vector to the next
    int count;
    wide_value<V>* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const V wi = w[i];
        for (int k = 0; k < gmres_dots<V>; ++k)
            if (k < count) t[k] = inner_product(v[k * n + i], wi);
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars&, const totals& t) const {
        for (int k = 0; k < count; ++k) h[k] = t[k];
    }
};

/// w = w - h_0 v_0 - h_1 v_1 ..., and |w|^2.
template <class V>
struct gmres_subtract {
    using scalars = krylov_state;
    using totals = sums<wide_value<V>, 1>;
    const V* v;
    V* w;
    std::int64_t n;
    int count;
    const wide_value<V>* h;
    wide_value<V>* norm2;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        V wi = w[i];
        for (int k = 0; k < count; ++k) wi -= product(rounded_to<V>(h[k]), v[k * n + i]);
        w[i] = wi;
        return {{inner_product(wi, wi)}};
    }
    NZ_HOST_DEVICE void finish(scalars&, const totals& t) const { *norm2 = t[0]; }
};

/// y = h_0 v_0 + h_1 v_1 + ...
template <class V>
struct gmres_combine {
    using scalars = krylov_state;
    using totals = sums<double, 0>;
    const V* v;
    V* y;
    std::int64_t n;
    int count;
    const wide_value<V>* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        V sum{};
        for (int k = 0; k < count; ++k) sum += product(rounded_to<V>(h[k]), v[k * n + i]);
        y[i] = sum;
        return {};
    }
};

}  // namespace nz
