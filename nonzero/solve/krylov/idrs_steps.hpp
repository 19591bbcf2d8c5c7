// The fused vector kernels of IDR(s), once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

/// s: the vectors that residuals are made orthogonal to.
inline constexpr int idrs_vectors = 4;

/// Between two reductions of the space that residuals lie in, s iterations make a direction each,
/// k = 0 to s - 1; the next one, k = s, reduces it.
template <class W>
struct idrs_scalars : krylov_state {
    static constexpr int s = idrs_vectors;
    int k = 0;
    W f[s] = {};      ///< (P_i, r), zero below k
    W c[s] = {};      ///< M c = f from row k on
    W alpha[s] = {};  ///< what a direction lacks of those before it
    W M[s][s] = {};   ///< (P_i, G_j), zero above the diagonal
    W omega = 1;
    W beta = 0;         ///< the step along the direction
    double least2 = 0;  ///< the least |r|^2 since the directions began

    NZ_HOST_DEVICE void begin() {
        k = 0, omega = 1, least2 = residual2;
        for (int i = 0; i < s; ++i)
            for (int j = 0; j < s; ++j) M[i][j] = W(i == j ? 1 : 0);
    }
    /// False where a pivot is zero.
    NZ_HOST_DEVICE bool solve_for_c() {
        for (int i = k; i < s; ++i) {
            W rest = f[i];
            for (int j = k; j < i; ++j) rest -= product(M[i][j], c[j]);
            if (M[i][i] == W(0)) return false;
            c[i] = rest / M[i][i];
        }
        return true;
    }
    /// p: (P_i, A u). Direction k is made orthogonal to P_0 to P_k-1, and the step along it found.
    NZ_HOST_DEVICE void add_direction(W (&p)[s]) {
        for (int i = 0; i < k; ++i) {
            alpha[i] = krylov_quotient(*this, p[i], M[i][i]);
            for (int j = i + 1; j < s; ++j) p[j] -= product(alpha[i], M[j][i]);
        }
        for (int i = k; i < s; ++i) M[i][k] = p[i];
        beta = krylov_quotient(*this, f[k], M[k][k]);
    }
    /// tr = (t, r), tt = (t, t): omega minimises |r - omega t|, and is enlarged where t is nearly
    /// orthogonal to r, as it would make the next directions inaccurate.
    NZ_HOST_DEVICE void reduce_space(W tr, W tt) {
        constexpr double least_cosine = 0.7;
        omega = krylov_quotient(*this, tr, tt);
        const double cosine = sqrt(norm2(tr) / real_part(tt) / residual2);
        if (cosine > 0 && cosine < least_cosine) omega = product(omega, W(least_cosine / cosine));
        beta = omega;
    }
};

/// Base of all steps. Vectors that belong together lie n apart.
template <class V, class T>
struct idrs_step {
    using W = wide_value<V>;
    using scalars = idrs_scalars<W>;
    using totals = T;
    NZ_HOST_DEVICE static bool skips(const scalars& now) {
        return !now.is_running() || now.has_failed();
    }
};
template <class V>
using no_sums = sums<wide_value<V>, 0>;
template <class V>
using idrs_sums = sums<wide_value<V>, idrs_vectors>;

/// f = P^H r, where a reduction has been.
template <class V>
struct idrs_project : idrs_step<V, idrs_sums<V>> {
    using base = idrs_step<V, idrs_sums<V>>;
    using typename base::scalars, typename base::totals;
    const V *P, *r;
    std::int64_t n;
    NZ_HOST_DEVICE static bool skips(const scalars& now) { return base::skips(now) || now.k > 0; }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const V ri = r[i];
        for (int k = 0; k < idrs_vectors; ++k) t[k] = inner_product(P[k * n + i], ri);
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars& now, const totals& t) const {
        for (int k = 0; k < idrs_vectors; ++k) now.f[k] = t[k];
        if (!now.solve_for_c()) now.next = status::breakdown;
    }
};

/// v = r - G c
template <class V>
struct idrs_rest : idrs_step<V, no_sums<V>> {
    using typename idrs_step<V, no_sums<V>>::scalars, typename idrs_step<V, no_sums<V>>::totals;
    const V *r, *G;
    V* v;
    std::int64_t n;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& now) const {
        V vi = r[i];
        for (int k = now.k; k < idrs_vectors; ++k)
            vi -= product(rounded_to<V>(now.c[k]), G[k * n + i]);
        v[i] = vi;
        return {};
    }
};

/// u = omega z + U c, or z itself where the space is reduced. u and z may be the same.
template <class V>
struct idrs_direction : idrs_step<V, no_sums<V>> {
    using typename idrs_step<V, no_sums<V>>::scalars, typename idrs_step<V, no_sums<V>>::totals;
    const V *z, *U;
    V* u;
    std::int64_t n;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& now) const {
        V ui = z[i];
        if (now.k < idrs_vectors) ui = product(rounded_to<V>(now.omega), ui);
        for (int k = now.k; k < idrs_vectors; ++k)
            ui += product(rounded_to<V>(now.c[k]), U[k * n + i]);
        u[i] = ui;
        return {};
    }
};

/// P^H q; or (q, r) and (q, q) where the space is reduced.
template <class V>
struct idrs_products : idrs_step<V, idrs_sums<V>> {
    using typename idrs_step<V, idrs_sums<V>>::scalars, typename idrs_step<V, idrs_sums<V>>::totals;
    const V *P, *q, *r;
    std::int64_t n;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& now) const {
        totals t{};
        const V qi = q[i];
        if (now.k == idrs_vectors) {
            t[0] = inner_product(qi, r[i]), t[1] = inner_product(qi, qi);
            return t;
        }
        for (int k = 0; k < idrs_vectors; ++k) t[k] = inner_product(P[k * n + i], qi);
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars& now, totals t) const {
        now.k == idrs_vectors ? now.reduce_space(t[0], t[1]) : now.add_direction(t.part);
    }
};

/// G_k and U_k, x = x + beta U_k, r = r - beta G_k: the end of the iteration.
template <class V>
struct idrs_update : idrs_step<V, sums<double, 1>> {
    using base = idrs_step<V, sums<double, 1>>;
    using typename base::scalars, typename base::totals;
    const V *q, *u;
    V *G, *U, *x, *r;
    std::int64_t n;
    NZ_HOST_DEVICE static bool skips(const scalars& now) { return !now.is_running(); }
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& now) const {
        if (now.has_failed()) return {};
        V g = q[i], d = u[i];
        if (now.k < idrs_vectors) {
            for (int k = 0; k < now.k; ++k) {
                const V alpha = rounded_to<V>(now.alpha[k]);
                g -= product(alpha, G[k * n + i]), d -= product(alpha, U[k * n + i]);
            }
            G[now.k * n + i] = g, U[now.k * n + i] = d;
        }
        const V beta = rounded_to<V>(now.beta);
        const V ri = r[i] - product(beta, g);
        x[i] += product(beta, d), r[i] = ri;
        return {{norm2(ri)}};
    }
    NZ_HOST_DEVICE void finish(scalars& now, const totals& sum) const {
        bool goes_on = !(now.omega == wide_value<V>(0));
        if (now.k < idrs_vectors) {
            for (int j = now.k + 1; j < idrs_vectors; ++j)
                now.f[j] -= product(now.beta, now.M[j][now.k]);
            ++now.k;
            goes_on = now.solve_for_c() && goes_on;
        } else {
            now.k = 0;
        }
        if (sum[0] < now.least2) now.least2 = sum[0];
        now.end_iteration(sum[0], !goes_on                            ? status::breakdown
                                  : sum[0] > divergence2 * now.least2 ? status::diverged
                                                                      : status::running);
    }
};

}  // namespace nz
