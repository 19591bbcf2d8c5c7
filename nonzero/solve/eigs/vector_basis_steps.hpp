// Operations of a GPU on a basis, as fused vector kernels.
#pragma once

#include "nonzero/solve/eigs/vector_basis.hpp"

namespace nz {

/// Scalar products that one fused kernel takes at once: a launch takes as long as many of them
/// where the vectors are short.
inline constexpr int dots_at_once = int(max_sum_bytes / sizeof(double));

/// h_k = (v_k, w) for the `count` basis vectors from v on.
template <class V>
struct basis_dots {
    using scalars = one_scalar<double>;
    using totals = sums<double, dots_at_once>;
    static constexpr fused_grid grid{256, 264};  ///< two blocks a multiprocessor: each leaves sums
    const V *v, *w;
    std::int64_t n;  ///< from one basis vector to the next
    int count;
    double* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const double wi = double(w[i]);
        for (int k = 0; k < dots_at_once; ++k)
            if (k < count) t[k] = double(v[k * n + i]) * wi;
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars&, const totals& t) const {
        for (int k = 0; k < count; ++k) h[k] = t[k];
    }
};

/// w = w - h_0 v_0 - h_1 v_1 ..., with |w|^2 and |h|^2.
template <class V>
struct basis_subtract {
    using scalars = basis_squares;
    using totals = sums<double, 1>;
    const V* v;
    V* w;
    std::int64_t n;
    int count;
    const double* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        double sum = double(w[i]);
        for (int k = 0; k < count; ++k) sum -= h[k] * double(v[k * n + i]);
        w[i] = V(sum);
        return {{sum * sum}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        double taken = 0;
        for (int k = 0; k < count; ++k) taken += h[k] * h[k];
        s = {t[0], taken};
    }
};

/// r = image - theta x, with |r|^2.
template <class V>
struct basis_residual {
    using scalars = one_scalar<double>;
    using totals = sums<double, 1>;
    const V *image, *x;
    V* r;
    double theta;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const double ri = double(image[i]) - theta * double(x[i]);
        r[i] = V(ri);
        return {{ri * ri}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.value = t[0]; }
};

/// x = y_0 v_0 + y_1 v_1 ...
template <class V>
struct basis_combine {
    using scalars = one_scalar<double>;
    using totals = sums<double, 0>;
    const V* v;
    V* x;
    std::int64_t n;
    int count;
    const double* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        double sum = 0;
        for (int k = 0; k < count; ++k) sum += y[k] * double(v[k * n + i]);
        x[i] = V(sum);
        return {};
    }
};

/// The first `to` of `from` vectors become sums of all: v_j = sum of y_(j from + k) v_k.
template <class V>
struct basis_rotate {
    using scalars = one_scalar<double>;
    using totals = sums<double, 0>;
    V* v;
    std::int64_t n;
    int from, to;
    const double* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        double old[max_basis];
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
