// The fused vector kernels of GMRES, once for both backends.
#pragma once

#include "nonzero/solve/krylov/krylov.hpp"

namespace nz {

/// Scalar products that one fused kernel takes at once.
template <class V>
inline constexpr int gmres_dots = int(max_sum_bytes / sizeof(wide_value<V>));

/// h_k = (v_k, w) for the `count` basis vectors from v on.
template <class V>
struct gmres_project {
    using scalars = krylov_state;
    using totals = sums<wide_value<V>, gmres_dots<V>>;
    const V *v, *w;
    std::int64_t n;  ///< from one basis vector to the next
    int count;
    wide_value<V>* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const V wi = w[i];
        for (int k = 0; k < gmres_dots<V>; ++k)
            if (k < count) t[k] = inner_product(v[k * n + i], wi);
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars&, const totals& t) const {
        for (int k = 0; k < count; ++k) h[k] = t[k];
    }
};

/// w = w - h_0 v_0 - h_1 v_1 ..., and |w|^2.
template <class V>
struct gmres_subtract {
    using scalars = krylov_state;
    using totals = sums<wide_value<V>, 1>;
    const V* v;
    V* w;
    std::int64_t n;
    int count;
    const wide_value<V>* h;
    wide_value<V>* norm2;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        V wi = w[i];
        for (int k = 0; k < count; ++k) wi -= product(rounded_to<V>(h[k]), v[k * n + i]);
        w[i] = wi;
        return {{inner_product(wi, wi)}};
    }
    NZ_HOST_DEVICE void finish(scalars&, const totals& t) const { *norm2 = t[0]; }
};

/// y = h_0 v_0 + h_1 v_1 + ...
template <class V>
struct gmres_combine {
    using scalars = krylov_state;
    using totals = sums<double, 0>;
    const V* v;
    V* y;
    std::int64_t n;
    int count;
    const wide_value<V>* h;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        V sum{};
        for (int k = 0; k < count; ++k) sum += product(rounded_to<V>(h[k]), v[k * n + i]);
        y[i] = sum;
        return {};
    }
};

/// Scalars of one of several systems. The small least-squares problem is the CPU's.
template <class W>
struct gmres_column_scalars : krylov_state {
    W* h = nullptr;        ///< scalar products of both passes, and |w|^2
    int slot = 0;          ///< number of its least-squares problem
    double inverse = 0;    ///< factor that makes the next basis vector one of length 1
    double claim2 = 0;     ///< |r|^2 after this iteration
    double at_start2 = 0;  ///< and at the start of the cycle
};

/// Some of the basis vectors, each a block of as many as there are systems.
template <class V>
struct gmres_vectors {
    static constexpr int most = gmres_dots<V>;
    const V* v[std::size_t(most)];
    int count;
    int at;  ///< place of the first one's coefficient among h
};

/// h_k = (v_k, w)
template <class V>
struct gmres_project_columns {
    using scalars = gmres_column_scalars<wide_value<V>>;
    using totals = sums<wide_value<V>, gmres_dots<V>>;
    gmres_vectors<V> some;
    const V* w;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars&) const {
        totals t{};
        const V wi = w[i];
        for (int k = 0; k < gmres_dots<V>; ++k)
            if (k < some.count) t[k] = inner_product(some.v[k][i], wi);
        return t;
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const {
        for (int k = 0; k < some.count; ++k) s.h[some.at + k] = t[k];
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

/// w = w - h_0 v_0 - h_1 v_1 ..., and |w|^2, at norm2_at of h.
template <class V>
struct gmres_subtract_columns {
    using scalars = gmres_column_scalars<wide_value<V>>;
    using totals = sums<wide_value<V>, 1>;
    gmres_vectors<V> some;
    V* w;
    int norm2_at;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        V wi = w[i];
        for (int k = 0; k < some.count; ++k)
            wi -= product(rounded_to<V>(s.h[some.at + k]), some.v[k][i]);
        w[i] = wi;
        return {{inner_product(wi, wi)}};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals& t) const { s.h[norm2_at] = t[0]; }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

/// v = inverse w: the end of the iteration, or the start of a cycle.
template <class V>
struct gmres_scale_columns {
    using scalars = gmres_column_scalars<wide_value<V>>;
    using totals = sums<double, 0>;
    const V* w;
    V* v;
    bool ends;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        v[i] = multiple(s.inverse, w[i]);
        return {};
    }
    NZ_HOST_DEVICE void finish(scalars& s, const totals&) const {
        if (ends) s.end_iteration(s.claim2, s.inverse > 0 ? status::running : status::breakdown);
    }
    NZ_HOST_DEVICE static bool skips(const scalars& s) { return !s.is_running(); }
};

/// y = h_0 v_0 + h_1 v_1 + ..., added to y but for the first of them; of all systems.
template <class V>
struct gmres_combine_columns {
    using scalars = gmres_column_scalars<wide_value<V>>;
    using totals = sums<double, 0>;
    gmres_vectors<V> some;
    V* y;
    NZ_HOST_DEVICE totals element(std::int64_t i, const scalars& s) const {
        V sum = some.at == 0 ? V{} : y[i];
        for (int k = 0; k < some.count; ++k) {
            const auto h = rounded_to<V>(s.h[some.at + k]);
            if (h != V(0)) sum += product(h, some.v[k][i]);  // v of one that has ended may be huge
        }
        y[i] = sum;
        return {};
    }
};

}  // namespace nz
