// The fused vector kernels of BiCGSTAB, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

template <class W>
struct bicgstab_scalars : krylov_state {
    W rho = 0;  ///< (u, r)
    W alpha = 0, beta = 0, omega = 0;
    double least2 = 0;  ///< the least |r|^2 since the directions began
};

/// Base of all steps.
template <class V, int K>
struct bicgstab_step {
    using W = wide_value<V>;
    using scalars = bicgstab_scalars<W>;
    using totals = sums<W, K>;
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
};

/// p = r + beta (p - omega v)
template <class V>
struct bicgstab_direction : bicgstab_step<V, 0> {
    using typename bicgstab_step<V, 0>::scalars;
    using typename bicgstab_step<V, 0>::totals;
    const V *r, *v;
    V* p;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        const V before = p[i] - product(rounded_to<V>(s.omega), v[i]);
        p[i] = r[i] + product(rounded_to<V>(s.beta), before);
        return {};
    }
};

/// alpha = (u, r) / (u, v)
template <class V>
struct bicgstab_alpha : bicgstab_step<V, 1> {
    using typename bicgstab_step<V, 1>::scalars;
    using typename bicgstab_step<V, 1>::totals;
    const V *u, *v;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{inner_product(u[i], v[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.alpha = krylov_quotient(s, s.rho, t[0]);
    }
};

/// r = r - alpha v
template <class V>
struct bicgstab_half : bicgstab_step<V, 0> {
    using typename bicgstab_step<V, 0>::scalars;
    using typename bicgstab_step<V, 0>::totals;
    const V* v;
    V* r;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        r[i] -= product(rounded_to<V>(s.alpha), v[i]);
        return {};
    }
};

/// omega = (t, r) / (t, t); 0 where t is, as r is zero then.
template <class V>
struct bicgstab_omega : bicgstab_step<V, 2> {
    using typename bicgstab_step<V, 2>::scalars;
    using typename bicgstab_step<V, 2>::totals;
    const V *t, *r;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{inner_product(t[i], r[i]), inner_product(t[i], t[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& sum) const {
        s.omega = real_part(sum[1]) == 0 ? sum[1] : krylov_quotient(s, sum[0], sum[1]);
    }
};

/// x = x + alpha y + omega z, r = r - omega t: the end of the iteration.
template <class V>
struct bicgstab_update : bicgstab_step<V, 2> {
    using typename bicgstab_step<V, 2>::scalars;
    using typename bicgstab_step<V, 2>::totals;
    const V *y, *z, *t, *u;
    V *x, *r;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        if (s.has_failed()) return {};
        const V omega = rounded_to<V>(s.omega);
        const V xi = x[i] + product(rounded_to<V>(s.alpha), y[i]) + product(omega, z[i]);
        const V ri = r[i] - product(omega, t[i]);
        const V ui = u[i];
        x[i] = xi, r[i] = ri;
        return {{inner_product(ri, ri), inner_product(ui, ri)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& sum) const {
        const auto below = product(s.rho, s.omega);
        const bool divides = norm2(below) > 0;
        s.beta = divides ? product(sum[1], s.alpha) / below : below;
        s.rho = sum[1];
        const double r2 = real_part(sum[0]);
        if (r2 < s.least2) s.least2 = r2;
        s.end_iteration(r2, !divides                      ? status::breakdown
                            : r2 > divergence2 * s.least2 ? status::diverged
                                                          : status::running);
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

}  // namespace nz
