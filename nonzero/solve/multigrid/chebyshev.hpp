// Polynomial smoothers, Chebyshev's and Jacobi's, and the spectral radius that they need.
#pragma once

#include <vector>

#include "nonzero/formats/registry.hpp"
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

// Steps of smoothers, over one vector or over several by rows, for which w has an element a row.

/// x = c w r, x's first correction from x = 0; r is a copy of b unless that is null.
template <class V, class R = real<V>>
struct first_correction {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R c;
    const R* w;
    const V* b;
    V *r, *x;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        const V mine = b != nullptr ? b[e.at] : r[e.at];
        if (b != nullptr) r[e.at] = mine;
        x[e.at] = c * (w[e.row] * mine);
        return {};
    }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        return element({i, i, 0}, s);
    }
};

/// d = f last + c w r, x += d; `last` may be d or x.
template <class V, class R = real<V>>
struct next_correction {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R f, c;
    const R* w;
    const V *r, *last;
    V *d, *x;
    NZ_HOST_DEVICE totals element(const column_element& e, const scalars&) const {
        const V mine = f * last[e.at] + c * (w[e.row] * r[e.at]);
        d[e.at] = mine;
        x[e.at] += mine;
        return {};
    }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        return element({i, i, 0}, s);
    }
};

/// d = c w r, x += e + d: the first correction after e came from the coarser level; e may be d.
template <class V, class R = real<V>>
struct coarse_correction {
    using scalars = one_scalar<V>;
    using totals = sums<V, 0>;
    R c;
    const R* w;
    const V *r, *e;
    V *d, *x;
    NZ_HOST_DEVICE totals element(const column_element& i, const scalars&) const {
        const V mine = c * (w[i.row] * r[i.at]);
        x[i.at] += e[i.at] + mine;
        d[i.at] = mine;
        return {};
    }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        return element({i, i, 0}, s);
    }
};

/// z = w q - alpha v - beta u in u's place; the sum of |z|^2 / w.
template <class V, class R = real<V>>
struct lanczos_step {
    using scalars = one_scalar<R>;
    using totals = sums<R, 1>;
    R alpha, beta;
    const R* w;
    const V *q, *v;
    V* u;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const V z = w[i] * q[i] - alpha * v[i] - beta * u[i];
        u[i] = z;
        return {{squared(z) / w[i]}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

/// Elements first to first + n - 1 of a vector in [-1, 1] that is the same on every machine.
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
