// The fused vector kernels of MINRES, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

struct minres_scalars : krylov_state {
    double gamma = 0;              ///< sqrt((v, M v))
    double over_gamma_before = 0;  ///< 1 / its value before; 0 at first
    double delta = 0;              ///< the diagonal entry of T
    double of_z = 0, of_v = 0, of_v_before = 0, of_w = 0, of_w_before = 0;  ///< in what comes next
    double c = 1, s = 0;                   ///< the rotation before this iteration's
    double c_before = 1, s_before = 0;     ///< and the one before that
    double over_a = 0, over_a_before = 0;  ///< w and w before lack these factors
    double eta = 0;                        ///< the rest to minimise, with its sign
    double step = 0;                       ///< x lacks step w
    double s2 = 0;                         ///< r becomes s2 r - step v
    double largest = 0;                    ///< the length of the longest column of T so far
    double norm2_of_A = 0;                 ///< at least that, from |A z| / |z|
    double norm2_of_w = 0;

    /// At the start, gamma known: no direction before.
    NZ_HOST_DEVICE void begin(double gamma_now) {
        gamma = eta = gamma_now;
        over_gamma_before = over_a = over_a_before = step = s = s_before = 0;
        c = c_before = 1;
    }
    /// delta is known, and with it what the next v and w are made of.
    NZ_HOST_DEVICE void set_factors() {
        of_z = 1 / gamma;
        of_v = delta / gamma;
        of_v_before = gamma * over_gamma_before;
        of_w = (s * delta + c_before * c * gamma) * over_a;
        of_w_before = s_before * gamma * over_a_before;
    }
    /// The next (v, M v) is known: one more rotation, and the step along w. It is not taken where A
    /// is singular as far as rounding errors let one see: the pivot is next to zero, or A w times
    /// |step| would be above |r| by the inverse of their root, at which Lanczos vectors are no
    /// longer orthogonal. Where b is no product of A, x would grow beyond bounds from there on.
    NZ_HOST_DEVICE void rotate(double gamma2, double rounding) {
        const double next_gamma = sqrt(gamma2);
        const double alpha = c * delta - c_before * s * gamma;
        const double a = hypot(alpha, next_gamma);
        const double above = over_gamma_before > 0 ? gamma : 0;  // T's first column has none
        largest = fmax(largest, hypot(hypot(above, delta), next_gamma));
        step = 0;
        if (!(a > 2 * rounding * largest)) {
            next = is_finite(a) ? status::singular_matrix : status::not_finite;
            return;
        }
        c_before = c, s_before = s;
        c = alpha / a, s = next_gamma / a;
        over_a_before = over_a, over_a = 1 / a;
        const double length = c * eta / a;
        if (residual2 <= rounding / 16 * norm2_of_A * norm2_of_w * length * length) {
            next = status::singular_matrix;
            return;
        }
        step = length;
        s2 = s * s;
        eta = -s * eta;
        over_gamma_before = 1 / gamma;
        gamma = next_gamma;
    }
};

/// Base of all steps.
template <class V, int K>
struct minres_step {
    using scalars = minres_scalars;
    using totals = sums<double, K>;
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
    /// From 1 to the next number in the type of the vectors.
    static constexpr double rounding =
        std::is_same_v<decltype(real_part(V())), float> ? 0x1p-23 : 0x1p-52;
};

/// gamma of the first direction, with a preconditioner.
template <class V>
struct minres_begin {
    using scalars = minres_scalars;
    using totals = sums<double, 1>;
    const V *v, *z;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{real_product(v[i], z[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.begin(s.expect_positive(t[0], status::indefinite_preconditioner) ? sqrt(t[0]) : 0);
    }
};

/// delta = (q, z) / gamma^2, and |A z| / |z|.
template <class V>
struct minres_curvature : minres_step<V, 3> {
    using typename minres_step<V, 3>::scalars;
    using typename minres_step<V, 3>::totals;
    const V *q, *z;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const V qi = q[i], zi = z[i];
        return {{real_product(qi, zi), norm2(qi), norm2(zi)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.delta = t[0] / s.gamma / s.gamma;
        if (t[2] > 0) s.norm2_of_A = fmax(s.norm2_of_A, t[1] / t[2]);
        s.set_factors();
        if (!loop_state::is_finite(s.delta)) s.next = status::not_finite;
    }
};

/// v and w of the next direction. The w of even and odd iterations lie apart, so that none is
/// moved; v's place is fixed, as A and M read it. x = x + step w, of the iteration before.
/// Without a preconditioner z is v, |r| is |eta|, and this ends the iteration.
template <class V>
struct minres_direction : minres_step<V, 2> {
    using typename minres_step<V, 2>::scalars;
    using typename minres_step<V, 2>::totals;
    const V *q, *z;
    V *v, *v_before, *w_even, *w_odd, *x;
    bool is_preconditioned;
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        if (s.has_failed()) return {};
        const bool odd = s.iterations % 2 != 0;
        const V* const w = odd ? w_even : w_odd;
        V* const next_w = odd ? w_odd : w_even;  // where w before lies
        const V qi = q[i], zi = z[i], vi = v[i], v_before_i = v_before[i];
        const V wi = w[i], w_before_i = next_w[i], xi = load_once(x + i);
        const V next_v =
            multiple(s.of_z, qi) - multiple(s.of_v, vi) - multiple(s.of_v_before, v_before_i);
        const V next_wi =
            multiple(s.of_z, zi) - multiple(s.of_w, wi) - multiple(s.of_w_before, w_before_i);
        store_once(x + i, xi + multiple(s.step, wi));
        v_before[i] = vi, v[i] = next_v, next_w[i] = next_wi;
        return {{norm2(next_v), norm2(next_wi)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.norm2_of_w = t[1];
        if (is_preconditioned) return;
        if (!s.has_failed()) s.rotate(t[0], this->rounding);
        s.end_iteration(s.eta * s.eta, s.gamma > 0 ? status::running : status::breakdown);
    }
};

/// The next (v, M v).
template <class V>
struct minres_preconditioned : minres_step<V, 1> {
    using typename minres_step<V, 1>::scalars;
    using typename minres_step<V, 1>::totals;
    const V *v, *z;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{real_product(v[i], z[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.step = 0;  // x is up to date
        if (t[0] >= 0 && loop_state::is_finite(t[0])) return s.rotate(t[0], this->rounding);
        s.next =
            loop_state::is_finite(t[0]) ? status::indefinite_preconditioner : status::not_finite;
    }
};

/// r = s^2 r - step v: the end of the iteration.
template <class V>
struct minres_residual : minres_step<V, 1> {
    using typename minres_step<V, 1>::scalars;
    using typename minres_step<V, 1>::totals;
    const V* v;
    V* r;
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        if (s.has_failed()) return {};
        const V ri = multiple(s.s2, r[i]) - multiple(s.step, v[i]);
        r[i] = ri;
        return {{norm2(ri)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.end_iteration(t[0], s.gamma > 0 ? status::running : status::breakdown);
        if (!loop_state::is_finite(t[0])) s.step = 0;
    }
};

/// x = x + step w, after the last iteration.
template <class V>
struct minres_finalize {
    using scalars = minres_scalars;
    using totals = sums<double, 0>;
    const V *w_even, *w_odd;
    V* x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        if (s.step == 0) return {};
        const V wi = s.iterations % 2 != 0 ? w_even[i] : w_odd[i];
        x[i] += multiple(s.step, wi);
        return {};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals&) const { s.step = 0; }
};

}  // namespace nz
