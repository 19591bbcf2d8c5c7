// Work on one aggregate's rows, the same way on every backend: columns made orthonormal, and
// phases.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/space.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// Remainder of a column that depends on those before it, over its first norm: rounding errors.
template <class R>
inline constexpr R dependent_remainder = R(1e3) * std::numeric_limits<R>::epsilon();

/// Work on an aggregate's rows by one thread.
struct one_lane {
    template <class F>
    NZ_HOST_DEVICE static void for_each(std::int64_t rows, F f) {
        for (std::int64_t i = 0; i < rows; ++i) f(i);
    }
    /// f(0) + f(1) + ..., added in this order.
    template <class V, class F>
    NZ_HOST_DEVICE static V sum(std::int64_t rows, F f) {
        V sum(0);
        for (std::int64_t i = 0; i < rows; ++i) sum += f(i);
        return sum;
    }
    NZ_HOST_DEVICE static bool is_first() { return true; }
};

/// Orthonormalises the k columns of Q, `rows` long and one after the other, and gives R, k x k by
/// rows and zero before, with Q R = what they were. Modified Gram-Schmidt, twice; a column that
/// depends on those before becomes zero. Sums are taken in the rows' order. A single column stays
/// as it is: the coarser level's candidate is the constant then, and what a row's weak entries add
/// up to on its diagonal does not change what the row makes of it (`smoothed_prolongation`). Lanes:
/// who works on the rows, together; all of them call it.
template <class V, class Lanes = one_lane>
struct gram_schmidt {
    using length = decltype(real_part(V()));
    std::int64_t rows;
    index k;
    length remainder;  ///< dependent_remainder
    V *Q, *R;

    NZ_HOST_DEVICE void run() const {
        if (k == 1) return keep();
        for (index c = 0; c < k; ++c) orthonormalise(c);
    }

  private:
    NZ_HOST_DEVICE void keep() const {
        const V kept = norm2_of(Q) > length(0) ? V(1) : V(0);
        if (Lanes::is_first()) R[0] = kept;
    }
    NZ_HOST_DEVICE V* column(index c) const { return Q + c * rows; }
    NZ_HOST_DEVICE V dot(const V* a, const V* b) const {
        return Lanes::template sum<V>(rows, [=](std::int64_t i) {
            return rounded_product(conjugated(transposition::conjugate_transpose, a[i]), b[i]);
        });
    }
    NZ_HOST_DEVICE length norm2_of(const V* a) const { return real_part(dot(a, a)); }
    NZ_HOST_DEVICE void subtract(V along, const V* __restrict__ from, V* __restrict__ to) const {
        Lanes::for_each(rows, [=](std::int64_t i) { to[i] -= rounded_product(along, from[i]); });
    }
    NZ_HOST_DEVICE void orthonormalise(index c) const {
        V* const mine = column(c);
        const length before = std::sqrt(norm2_of(mine));
        for (int twice = 0; twice < 2; ++twice)  // once leaves errors where columns nearly depend
            for (index d = 0; d < c; ++d) {
                const V along = dot(column(d), mine);
                if (Lanes::is_first()) R[d * k + c] += along;
                subtract(along, column(d), mine);
            }
        const length left = c == 0 ? before : std::sqrt(norm2_of(mine));
        const bool dependent = !(left > rounded_product(remainder, before));
        if (Lanes::is_first()) R[c * k + c] = V(dependent ? length(0) : left);
        Lanes::for_each(
            rows, [=](std::int64_t i) { mine[i] = dependent ? V(0) : quotient(mine[i], left); });
    }
};

/// A phase for each node of an aggregate, x_i of magnitude 1, from its first node on by way of its
/// couplings: a node's couplings with those that have one add up to a negative multiple of it,
/// sum_j a_ij x_j = -|...| x_i. Where A is D^H B D, D diagonal of unit numbers and B a real matrix
/// with negative couplings, x is D^H times a number within the aggregate, as B's candidate is the
/// constant. The node comes next for which that sum is largest beside its diagonal entry: of
/// couplings that contradict each other the strongest are heard first. Where nothing else is said,
/// a node has the phase 1.
template <class V, class Ptr>
struct aggregate_phases {
    Ptr row_ptr;
    const index* col;
    const V* val;
    const index* of;   ///< aggregates of the `nodes` own nodes
    std::int64_t own;  ///< how many they are
    V* x;              ///< 0 at first

    NZ_HOST_DEVICE void find(const index* nodes, std::int64_t count) const {
        x[nodes[0]] = V(1);
        for (std::int64_t found = 1; found < count; ++found) find_next(nodes, count);
    }

  private:
    using length = decltype(real_part(V()));
    struct suggestion {
        V phase = V(1);
        length weight = length(0);
    };
    NZ_HOST_DEVICE bool is_found(index i) const { return !(x[i] == V(0)); }
    NZ_HOST_DEVICE void find_next(const index* nodes, std::int64_t count) const {
        index next = -1;
        suggestion best;
        for (std::int64_t k = 1; k < count; ++k) {
            if (is_found(nodes[k])) continue;
            const suggestion here = suggested(nodes[k]);
            if (next < 0 || here.weight > best.weight) next = nodes[k], best = here;
        }
        x[next] = best.phase;
    }
    NZ_HOST_DEVICE suggestion suggested(index i) const {
        V sum(0);
        length diagonal(1);
        for (auto k = row_ptr[i]; k < row_ptr[i + 1]; ++k) {
            const index j = col[k];
            if (j == i) diagonal = real_part(val[k]);
            if (j != i && j < own && of[j] == of[i]) sum += rounded_product(val[k], x[j]);
        }
        const length size = magnitude(sum);
        if (!(size > 0) || !std::isfinite(size)) return {};
        return {quotient(V(0) - sum, size), size / diagonal};
    }
};

/// An aggregate's part of the candidates, `block` rows a node, to columns one after the other
/// (`gather`), and back.
template <bool gather, class Lanes = one_lane, class V>
NZ_HOST_DEVICE void move_part(const index* nodes, std::int64_t count, index block, index k,
                              V* columns, V* val) {
    const std::int64_t rows = count * block;
    Lanes::for_each(rows, [=](std::int64_t i) {
        for (index c = 0; c < k; ++c) {
            V& of_node = val[(std::int64_t(nodes[i / block]) * block + i % block) * k + c];
            V& column = columns[c * rows + i];
            if constexpr (gather) {
                column = of_node;
            } else {
                of_node = column;
            }
        }
    });
}

}  // namespace nz
