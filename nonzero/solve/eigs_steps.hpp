// The sweeps of the eigenvalue solver, once for both backends.
#pragma once

#include "nonzero/solve/vectors.hpp"

namespace nz {

/// Vectors that the solver holds at most, and what that takes of a thread's memory in eigs_rotate.
inline constexpr int eigs_max_basis = 128;
/// Scalar products that one sweep takes at once.
inline constexpr int eigs_dots_at_once = int(max_sum_bytes / sizeof(double));

/// h_k = (v_k, w) for the `count` basis vectors from v on.
template <class V>
struct eigs_dots {
    using scalars = one_scalar<double>;
    using totals = sums<double, eigs_dots_at_once>;
    const V *v, *w;
    std::int64_t n;  ///< from one basis vector to the next
    int count;
    double* h;
    NZ_ANYWHERE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const double wi = double(w[i]);
        for (int k = 0; k < eigs_dots_at_once; ++k)
            if (k < count) t[k] = double(v[k * n + i]) * wi;
        return t;
    }
    NZ_ANYWHERE void finish(scalars&, const totals& t) const {
        for (int k = 0; k < count; ++k) h[k] = t[k];
    }
};

/// w = w - h_0 v_0 - h_1 v_1 ..., with |w|^2.
template <class V>
struct eigs_subtract {
    using scalars = one_scalar<double>;
    using totals = sums<double, 1>;
    const V* v;
    V* w;
    std::int64_t n;
    int count;
    const double* h;
    NZ_ANYWHERE totals element(std::int64_t i, const scalars&) const {
        double sum = double(w[i]);
        for (int k = 0; k < count; ++k) sum -= h[k] * double(v[k * n + i]);
        w[i] = V(sum);
        return {{sum * sum}};
    }
    NZ_ANYWHERE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

/// r = sum of y_k (a_k - theta v_k), a_k being A v_k; with |r|^2.
template <class V>
struct eigs_residual {
    using scalars = one_scalar<double>;
    using totals = sums<double, 1>;
    const V *v, *a;
    V* r;
    std::int64_t n;
    int count;
    double theta;
    const double* y;
    NZ_ANYWHERE totals element(std::int64_t i, const scalars&) const {
        double sum = 0;
        for (int k = 0; k < count; ++k)
            sum += y[k] * (double(a[k * n + i]) - theta * double(v[k * n + i]));
        r[i] = V(sum);
        return {{sum * sum}};
    }
    NZ_ANYWHERE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

/// The first `to` of `from` vectors become sums of all: v_j = sum of y_(j from + k) v_k.
template <class V>
struct eigs_rotate {
    using scalars = one_scalar<double>;
    using totals = sums<double, 0>;
    V* v;
    std::int64_t n;
    int from, to;
    const double* y;
    NZ_ANYWHERE totals element(std::int64_t i, const scalars&) const {
        double old[eigs_max_basis];
        for (int k = 0; k < from; ++k) old[k] = double(v[k * n + i]);
        for (int j = 0; j < to; ++j) {
            double sum = 0;
            for (int k = 0; k < from; ++k) sum += y[j * from + k] * old[k];
            v[j * n + i] = V(sum);
        }
        return {};
    }
};

}  // namespace nz
