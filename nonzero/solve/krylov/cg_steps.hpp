// The fused vector kernels of conjugate gradients, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

struct cg_scalars : krylov_state {
    double rz = 0;     ///< (r, M r); 0 before the first iteration
    double alpha = 0;  ///< x lacks alpha p
    double beta = 0;

    /// alpha = (r, z) / (p, A p).
    NZ_HOST_DEVICE void set_step(double curvature) {
        alpha = expect_positive(curvature, status::indefinite_matrix) ? rz / curvature : 0;
    }
};

/// beta = (r, z) / its value before.
template <class V>
struct cg_preconditioned {
    using scalars = cg_scalars;
    using totals = sums<double, 1>;
    const V *r, *z;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{real_product(r[i], z[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        if (!s.expect_positive(t[0], status::indefinite_preconditioner)) return;
        s.beta = s.rz > 0 ? t[0] / s.rz : 0;
        s.rz = t[0];
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

/// x = x + alpha p, still of the iteration before, while p is at hand: p = z + beta p.
template <class V>
struct cg_direction {
    using scalars = cg_scalars;
    using totals = sums<double, 0>;
    const V* z;
    V *p, *x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        const V pi = p[i], xi = load_once(x + i), zi = z[i];  // all loads, then all stores
        store_once(x + i, xi + multiple(s.alpha, pi));
        p[i] = zi + multiple(s.beta, pi);
        return {};
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
};

/// alpha = (r, z) / (p, q).
template <class V>
struct cg_curvature {
    using scalars = cg_scalars;
    using totals = sums<double, 1>;
    const V *p, *q;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{real_product(p[i], q[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.set_step(t[0]); }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
};

/// The same from the parts of (p, q) that the product gave.
struct cg_curvature_of_parts {
    using scalars = cg_scalars;
    using totals = sums<double, 1>;
    const double* parts;
    NZ_HOST_DEVICE totals element(std::int64_t k, const scalars&) const { return {{parts[k]}}; }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.set_step(t[0]); }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
};

/// r = r - alpha q. Without a preconditioner |r|^2 is the next (r, z).
template <class V>
struct cg_residual {
    using scalars = cg_scalars;
    using totals = sums<double, 1>;
    const V* q;
    V* r;
    bool is_preconditioned;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        if (s.has_failed()) return {};
        const V ri = r[i] - multiple(s.alpha, q[i]);
        r[i] = ri;
        return {{norm2(ri)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.end_iteration(t[0]);
        if (!loop_state::is_finite(t[0])) s.alpha = 0;
        if (is_preconditioned) return;
        s.beta = t[0] / s.rz;
        s.rz = t[0];
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

/// x = x + alpha p, after the last iteration.
template <class V>
struct cg_finalize {
    using scalars = cg_scalars;
    using totals = sums<double, 0>;
    const V* p;
    V* x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        x[i] += multiple(s.alpha, p[i]);
        return {};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals&) const { s.alpha = 0; }
};

}  // namespace nz
