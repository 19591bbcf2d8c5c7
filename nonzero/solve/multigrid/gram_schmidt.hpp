// A few columns made orthonormal over a group of rows, the same way on every backend.
#pragma once

#include <cmath>
#include <limits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/space.hpp"
#include "nonzero/vector/scalar.hpp"

namespace nz {

/// Remainder of a column that depends on those before it, over its first norm: rounding errors.
template <class V>
inline constexpr V dependent_remainder = V(1e3) * std::numeric_limits<V>::epsilon();

/// Orthonormalises the k columns of Q, `rows` long and one after the other, and gives R, k x k by
/// rows and zero before, with Q R = what they were. Modified Gram-Schmidt, twice; a column that
/// depends on those before becomes zero. Sums are taken in the rows' order. A single column stays
/// as it is: the coarser level's candidate is the constant then, and what a row's weak entries add
/// up to on its diagonal does not change what the row makes of it (`smoothed_prolongation`).
template <class V>
struct gram_schmidt {
    std::int64_t rows;
    index k;
    V remainder;  ///< dependent_remainder<V>
    V *Q, *R;

    NZ_HOST_DEVICE void run() const {
        if (k == 1) return keep();
        for (index c = 0; c < k; ++c) orthonormalise(c);
    }

  private:
    NZ_HOST_DEVICE void keep() const { R[0] = dot(Q, Q) > V(0) ? V(1) : V(0); }
    NZ_HOST_DEVICE V* column(index c) const { return Q + c * rows; }
    NZ_HOST_DEVICE V dot(const V* a, const V* b) const {
        V sum(0);
        for (std::int64_t i = 0; i < rows; ++i) sum += rounded_product(a[i], b[i]);
        return sum;
    }
    NZ_HOST_DEVICE void subtract(V along, const V* __restrict__ from, V* __restrict__ to) const {
        for (std::int64_t i = 0; i < rows; ++i) to[i] -= rounded_product(along, from[i]);
    }
    NZ_HOST_DEVICE void orthonormalise(index c) const {
        V* const mine = column(c);
        const V before = std::sqrt(dot(mine, mine));
        for (int twice = 0; twice < 2; ++twice)  // once leaves errors where columns nearly depend
            for (index d = 0; d < c; ++d) {
                const V along = dot(column(d), mine);
                R[d * k + c] += along;
                subtract(along, column(d), mine);
            }
        const V left = c == 0 ? before : std::sqrt(dot(mine, mine));
        const bool dependent = !(left > rounded_product(remainder, before));
        R[c * k + c] = dependent ? V(0) : left;
        for (std::int64_t i = 0; i < rows; ++i) mine[i] = dependent ? V(0) : mine[i] / left;
    }
};

/// An aggregate's part of the candidates, `block` rows a node, to columns one after the other
/// (`gather`), and back.
template <bool gather, class V>
NZ_HOST_DEVICE void move_part(const index* nodes, std::int64_t count, index block, index k,
                              V* columns, V* val) {
    const std::int64_t rows = count * block;
    for (std::int64_t i = 0; i < rows; ++i)
        for (index c = 0; c < k; ++c) {
            V& of_node = val[(std::int64_t(nodes[i / block]) * block + i % block) * k + c];
            V& column = columns[c * rows + i];
            if constexpr (gather) {
                column = of_node;
            } else {
                of_node = column;
            }
        }
}

}  // namespace nz
