// The fused vector kernels of LSMR and LSQR, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"
#include "nonzero/solve/least_squares/least_squares.hpp"

namespace nz {

/// Base of the scalars of both: Golub and Kahan's process, the estimates, and when to stop.
struct least_squares_scalars : krylov_state {
    using endings = least_squares_options::report::endings;

    double damp = 0, atol = 0, btol = 0, least_inverse_condition = 0, rounding = 0;
    double alpha = 0, beta = 0;  ///< the last entries of the bidiagonal matrix
    double of_u = 0;             ///< the factor of u, which is beta long, in the next one
    double over_beta = 0, over_alpha = 0;
    double rhs_norm = 0;
    double damped_norm = 0, gradient_norm = 0, norm2 = 0, condition = 0;
    double solution_norm = 0;
    endings ending = endings::max_iter;
    bool begins = true;  ///< no iteration yet: vectors are made

    NZ_HOST_DEVICE static double inverse(double v) { return v > 0 ? 1 / v : 0; }
    /// u is known, of length beta.
    NZ_HOST_DEVICE void take_beta(double beta2) {
        beta = sqrt(beta2);
        over_beta = inverse(beta);
        if (!is_finite(beta)) next = status::not_finite;
    }
    NZ_HOST_DEVICE void take_alpha(double alpha2) {
        alpha = sqrt(alpha2);
        over_alpha = inverse(alpha);
        of_u = alpha * over_beta;
        if (!is_finite(alpha)) next = status::not_finite;
    }
    /// The tests of SciPy, in its order: the first that holds is why it ends.
    [[nodiscard]] NZ_HOST_DEVICE status judge() {
        const double norm = sqrt(norm2), relative = damped_norm / rhs_norm;
        const double size = norm * solution_norm / rhs_norm, scale = norm * damped_norm;
        const double gradient = scale > 0 ? gradient_norm / scale : 0;
        const double inverse_condition = inverse(condition);
        if (relative <= btol + atol * size) return end(endings::solved);
        if (gradient <= atol) return end(endings::least_squares);
        if (inverse_condition <= least_inverse_condition) return end(endings::ill_conditioned);
        if (relative / (1 + size) <= rounding) return end(endings::solved_to_rounding);
        if (gradient <= rounding) return end(endings::least_squares_to_rounding);
        if (inverse_condition <= rounding) return end(endings::ill_conditioned_to_rounding);
        return status::running;
    }
    NZ_HOST_DEVICE status end(endings by) {
        ending = by;
        return status::converged;
    }
};

/// c, s and r of the rotation that turns (a, b) into (r, 0).
struct plane_rotation {
    double c, s, r;
    NZ_HOST_DEVICE static plane_rotation of(double a, double b) {
        const double r = hypot(a, b);
        if (r == 0) return {1, 0, 0};
        return {a / r, b / r, r};
    }
};

/// Of LSMR, named as in its paper.
struct lsmr_scalars : least_squares_scalars {
    double alphabar = 0, zetabar = 0, rho = 1, rhobar = 1, cbar = 1, sbar = 0, zeta = 0;
    double betadd = 0, betad = 0, rhodold = 1, tautildeold = 0, thetatilde = 0, d = 0;
    double largest = 0, least = 1e100;       ///< of rhobar, for the condition number
    double of_hbar = 0, step = 0, of_h = 0;  ///< in what comes next
    double rhobar_before = 1, rho_of_cbar = 0;

    NZ_HOST_DEVICE void begin() {
        alphabar = alpha, zetabar = alpha * beta, betadd = beta;
        norm2 = alpha * alpha, condition = 1;
        damped_norm = beta, gradient_norm = alpha * beta;
    }
    NZ_HOST_DEVICE void rotate() {
        const auto hat = plane_rotation::of(alphabar, damp);
        const double rho_before = rho, zeta_before = zeta;
        const auto turn = plane_rotation::of(hat.r, beta);
        rho = turn.r;
        const double theta = turn.s * alpha;
        alphabar = turn.c * alpha;
        rhobar_before = rhobar;
        const double thetabar = sbar * rho;
        rho_of_cbar = cbar * rho;
        const auto bar = plane_rotation::of(rho_of_cbar, theta);
        cbar = bar.c, sbar = bar.s, rhobar = bar.r;
        zeta = cbar * zetabar;
        zetabar = -sbar * zetabar;
        of_hbar = thetabar * rho / (rho_before * rhobar_before);
        step = zeta / (rho * rhobar);
        of_h = theta / rho;
        estimate(hat, turn, thetabar, zeta_before);
        if (!is_finite(of_hbar) || !is_finite(step) || !is_finite(of_h)) next = status::not_finite;
    }
    /// |b - A x|, damped: beta's share is turned as x is.
    NZ_HOST_DEVICE void estimate(plane_rotation hat, plane_rotation turn, double thetabar,
                                 double zeta_before) {
        const double betaacute = hat.c * betadd, betacheck = -hat.s * betadd;
        const double betahat = turn.c * betaacute;
        betadd = -turn.s * betaacute;
        const double thetatilde_before = thetatilde;
        const auto tilde = plane_rotation::of(rhodold, thetabar);
        thetatilde = tilde.s * rhobar, rhodold = tilde.c * rhobar;
        betad = -tilde.s * betad + tilde.c * betahat;
        tautildeold = (zeta_before - thetatilde_before * tautildeold) / tilde.r;
        const double taud = (zeta - thetatilde * tautildeold) / rhodold;
        d += betacheck * betacheck;
        const double rest = betad - taud;
        damped_norm = sqrt(d + rest * rest + betadd * betadd);
        gradient_norm = fabs(zetabar);
    }
    /// At the end of an iteration: the norms of the matrix so far.
    NZ_HOST_DEVICE void measure(double) {
        norm2 += beta * beta;
        largest = fmax(largest, rhobar_before);
        if (iterations > 0) least = fmin(least, rhobar_before);
        condition = fmax(largest, rho_of_cbar) / fmin(least, rho_of_cbar);
    }
    NZ_HOST_DEVICE void measured() { norm2 += alpha * alpha; }
};

/// Of LSQR, named as in its paper.
struct lsqr_scalars : least_squares_scalars {
    double rhobar = 0, phibar = 0, rho = 0, res2 = 0, sum_of_w = 0;
    double alpha_before = 0;
    double step = 0, of_w = 0, over_rho = 0;  ///< in what comes next

    NZ_HOST_DEVICE void begin() {
        rhobar = alpha, phibar = beta;
        damped_norm = beta, gradient_norm = alpha * beta;
        alpha_before = alpha;
    }
    NZ_HOST_DEVICE void rotate() {
        const auto damped = plane_rotation::of(rhobar, damp);
        const double psi = damped.s * phibar;
        phibar *= damped.c;
        const auto turn = plane_rotation::of(damped.r, beta);
        rho = turn.r;
        const double theta = turn.s * alpha, phi = turn.c * phibar;
        rhobar = -turn.c * alpha;
        phibar *= turn.s;
        step = phi / rho, of_w = -theta / rho, over_rho = 1 / rho;
        norm2 += alpha_before * alpha_before + beta * beta + damp * damp;
        alpha_before = alpha;
        res2 += psi * psi;
        damped_norm = sqrt(phibar * phibar + res2);
        gradient_norm = alpha * fabs(turn.s * phi);
        if (!is_finite(step) || !is_finite(of_w) || !is_finite(over_rho)) next = status::not_finite;
    }
    NZ_HOST_DEVICE void measure(double of_directions) {
        sum_of_w += of_directions;
        condition = sqrt(norm2) * sqrt(sum_of_w);
    }
    NZ_HOST_DEVICE void measured() {}
};

/// Base of all steps.
template <class V, class S, int K>
struct least_squares_step {
    using scalars = S;
    using totals = sums<double, K>;
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running() || s.has_failed(); }
};

/// u = q - alpha u, u beta long before and after.
template <class V, class S>
struct bidiagonal_left : least_squares_step<V, S, 1> {
    using typename least_squares_step<V, S, 1>::totals;
    const V* q;
    V* u;
    NZ_HOST_DEVICE totals element(std::int64_t i, const S& s) const {
        const V ui = q[i] - multiple(s.of_u, u[i]);
        u[i] = ui;
        return {{norm2(ui)}};
    }
    NZ_HOST_DEVICE void finish(S& s, const totals& t) const { s.take_beta(t[0]); }
};

/// v = q / beta - beta v, v 1 long before and alpha after; then all else is known.
template <class V, class S>
struct bidiagonal_right : least_squares_step<V, S, 1> {
    using typename least_squares_step<V, S, 1>::totals;
    const V* q;
    V* v;
    NZ_HOST_DEVICE totals element(std::int64_t i, const S& s) const {
        const V vi = multiple(s.over_beta, q[i]) - multiple(s.beta, v[i]);
        v[i] = vi;
        return {{norm2(vi)}};
    }
    NZ_HOST_DEVICE void finish(S& s, const totals& t) const {
        s.take_alpha(t[0]);
        s.begins ? s.begin() : s.rotate();
    }
};

/// Base of the steps that move x and end an iteration.
template <class V, class S>
struct least_squares_end : least_squares_step<V, S, 2> {
    using typename least_squares_step<V, S, 2>::totals;
    NZ_HOST_DEVICE static bool skips(const S& s) { return !s.is_running(); }
    NZ_HOST_DEVICE void finish(S& s, const totals& t) const {
        if (s.begins) {
            s.begins = false;
            s.solution_norm = sqrt(t[0]);
            return;
        }
        status after = status::running;
        if (!s.has_failed()) {
            s.measure(t[1]);
            s.solution_norm = sqrt(t[0]);
            after = s.judge();
            s.measured();
        }
        s.end_iteration(s.damped_norm * s.damped_norm, after);
    }
};

/// v becomes 1 long; hbar, x and h move on.
template <class V>
struct lsmr_move : least_squares_end<V, lsmr_scalars> {
    using typename least_squares_end<V, lsmr_scalars>::totals;
    V *v, *h, *hbar, *x;
    NZ_HOST_DEVICE totals element(std::int64_t i, const lsmr_scalars& s) const {
        if (s.has_failed()) return {};
        const V vi = multiple(s.over_alpha, v[i]), hi = h[i];
        const V hbar_i = hi - multiple(s.of_hbar, hbar[i]);
        const V xi = x[i] + multiple(s.step, hbar_i);
        v[i] = vi, hbar[i] = hbar_i, x[i] = xi;
        h[i] = vi - multiple(s.of_h, hi);
        return {{norm2(xi), 0}};
    }
};

/// v becomes 1 long; x and w move on.
template <class V, class R = real<V>>
struct lsqr_move : least_squares_end<V, lsqr_scalars> {
    using typename least_squares_end<V, lsqr_scalars>::totals;
    V *v, *w, *x;
    R* variance;  ///< null: not wanted
    NZ_HOST_DEVICE totals element(std::int64_t i, const lsqr_scalars& s) const {
        if (s.has_failed()) return {};
        const V vi = multiple(s.over_alpha, v[i]), wi = w[i];
        const V xi = x[i] + multiple(s.step, wi);
        const double direction = norm2(wi) * s.over_rho * s.over_rho;
        v[i] = vi, x[i] = xi;
        w[i] = vi + multiple(s.of_w, wi);
        if (variance != nullptr) variance[i] += R(direction);
        return {{norm2(xi), direction}};
    }
};

}  // namespace nz
