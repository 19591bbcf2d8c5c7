// Operations of a GPU on a basis: fused vector kernels, and scalar products.
#pragma once

#include "nonzero/solve/eigs/vector_basis.hpp"

namespace nz {

/// h_k = (v_k, w) for `count` vectors of n elements, v_0 at v and the next ones behind it; over
/// ranks the sums of all, in their order. In on.stream, without waiting. Same bits in every run.
template <class V>
void launch_dots(gpu on, std::int64_t n, int count, const V* v, const V* w, double* scratch,
                 double* h);
/// Doubles that its scratch memory has.
std::size_t dots_scratch(gpu on, std::int64_t n, int count);

/// c_0 v_0i + c_1 v_1i + ... Loads 32 elements before it adds them: with short vectors there are
/// few threads, and each would wait for one load after the other.
template <class V>
NZ_HOST_DEVICE double sum_of_row(const V* v, std::int64_t n, int count, const double* c,
                                 std::int64_t i) {
    constexpr int at_once = 32;
    double sum = 0;
    for (int k = 0; k < count; k += at_once) {
        V some[at_once];
        for (int j = 0; j < at_once; ++j) some[j] = k + j < count ? v[(k + j) * n + i] : V(0);
        for (int j = 0; j < at_once; ++j)
            if (k + j < count) sum += c[k + j] * double(some[j]);
    }
    return sum;
}

/// w = w - h_0 v_0 - h_1 v_1 ..., with |w|^2 and |h|^2.
template <class V>
struct basis_subtract {
    using scalars = basis_subtraction;
    using totals = sums<double, 1>;
    const V* v;
    V* w;
    std::int64_t n;
    int count;
    const double* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        const double rest = double(w[i]) - sum_of_row(v, n, count, h, i);
        w[i] = V(rest);
        return {{rest * rest}};
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
        x[i] = V(sum_of_row(v, n, count, y, i));
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
