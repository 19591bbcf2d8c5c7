// Polynomial smoothers, Chebyshev's and Jacobi's, and the spectral radius that they need.
#pragma once

#include <cmath>
#include <vector>

#include "nonzero/formats/registry.hpp"
#include "nonzero/solve/krylov/loop.hpp"
#include "nonzero/solve/multigrid/aggregate.hpp"
#include "nonzero/vector/fused_columns.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// One step of a smoother that corrects x by d = from_last d + from_residual W r, r = b - A x, W
/// diagonal.
struct smoother_step {
    double from_last, from_residual;
    friend bool operator==(const smoother_step&, const smoother_step&) = default;
};

/// The Chebyshev polynomial that is least on [low, high], in steps; 0 < low < high, degree >= 1.
/// Source: Adams, Brezina, Hu, Tuminaro 2003, section 3; the recurrence is Saad 2003, algorithm
/// 12.1.
std::vector<smoother_step> chebyshev_steps(int degree, double low, double high);

// Steps of one vector or of several by rows, w with an element a row. Each computes one formula
// without a branch on absent vectors: a loop with such a branch is not vectorised.

/// y = c w b, the first iterate from 0.
template <class V, class R = real<V>>
struct first_iterate {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R c;
    const R* w;
    const V* b;
    V* y;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        y[e.at] = c * w[e.row] * b[e.at];
        return {};
    }
};

/// y = b - A x.
template <class V>
struct iterate_residual {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    const V *b, *Ax;
    V* y;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        y[e.at] = b[e.at] - Ax[e.at];
        return {};
    }
};

/// y = keep x + step w (b - A x).
template <class V, class R = real<V>>
struct next_iterate {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R keep, step;
    const R* w;
    const V *b, *x, *Ax;
    V* y;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        y[e.at] = keep * x[e.at] + step * (w[e.row] * (b[e.at] - Ax[e.at]));
        return {};
    }
};

/// y = keep x - momentum y + step w (b - A x).
template <class V, class R = real<V>>
struct next_iterate_with_momentum {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R keep, momentum, step;
    const R* w;
    const V *b, *x, *Ax;
    V* y;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        y[e.at] = keep * x[e.at] - momentum * y[e.at] + step * (w[e.row] * (b[e.at] - Ax[e.at]));
        return {};
    }
};

/// Element i of a vector in [-1, 1] that is the same on every machine.
template <std::floating_point R>
NZ_HOST_DEVICE R hashed_element(std::int64_t i) {
    return R(double(priority(index(i), 0) >> 32) * 0x1p-31 - 1);
}

/// Lanczos' iteration, whose vectors v and u keep their lengths, `length` and `last`: v / length
/// and u / last are orthonormal.
struct lanczos_scalars {
    double length = 0, last = 1, alpha = 0, beta = 0;
    std::int64_t steps = 0;  ///< that have ended
    NZ_HOST_DEVICE static bool skips(const lanczos_scalars& s) {
        return !(s.length > 0 && loop_state::is_finite(s.length));
    }
};

/// v = its elements from `first` on, and its length.
template <class V, class R = real<V>>
struct lanczos_start {
    using scalars = lanczos_scalars;
    using totals = sums<R, 1>;
    std::int64_t first;
    const R* w;
    V* v;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        v[i] = V(hashed_element<R>(first + i));
        return {{squared(v[i]) / w[i]}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.length = std::sqrt(double(t[0]));
    }
};

/// alpha = (v, A v) / (v, v), q = A v; it is written into `diagonal`, an element a step.
template <class V>
struct lanczos_diagonal {
    using scalars = lanczos_scalars;
    using totals = sums<double, 1>;
    const V *v, *q;
    double* diagonal;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        return {{real_product(v[i], q[i])}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.alpha = t[0] / s.length / s.length;
        diagonal[s.steps] = s.alpha;
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return scalars::skips(s); }
};

/// z = W A v - alpha v - beta u of v and u as they are of length 1, in u's place: the next v. beta
/// is its length, which is written into `beside`, an element a step.
template <class V, class R = real<V>>
struct lanczos_step {
    using scalars = lanczos_scalars;
    using totals = sums<R, 1>;
    const R* w;
    const V *q, *v;
    V* u;
    double* beside;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        const V z = R(1 / s.length) * (w[i] * q[i]) - R(s.alpha / s.length) * v[i] -
                    R(s.beta / s.last) * u[i];
        u[i] = z;
        return {{squared(z) / w[i]}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        s.last = s.length;
        s.beta = s.length = std::sqrt(double(t[0]));
        beside[s.steps++] = s.beta;
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return scalars::skips(s); }
};

/// The elements first to first + n - 1 of that vector.
template <class V>
host_vector<V> hashed_vector(std::int64_t n, std::int64_t first = 0);

/// An estimate from below of the largest eigenvalue of W A, A hermitian positive semidefinite and
/// W diagonal, positive: `steps` of Lanczos from a fixed start. Same bits in every run.
/// Where on.ranks share A out, `first_row` is this rank's first.
/// Source: Golub and Van Loan 2013, section 10.1, in the inner product of the inverse of W.
template <class V, class B>
double spectral_radius(B on, const linear_operator<V, B>& A, in<real<V>, B> w, int steps,
                       std::int64_t first_row = 0);

}  // namespace nz
