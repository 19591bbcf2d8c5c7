// Ends of a row on a CPU: a product gives them the sums of rows. Their loops are inlined, so that a
// product in SIMD has them in its own.
#pragma once

#include <array>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {

/// Rows of a run, at most.
inline constexpr std::size_t most_run = 256;

/// y = alpha sum + beta y.
template <class V>
struct scaled_rows {
    V alpha, beta;
    V* y;

    /// Rows by their numbers. Of a copy a compiler knows that no store to y changes it.
    NZ_ALWAYS_INLINE void put_listed(const index* row, std::size_t rows, const V* sums) const {
        const scaled_rows end = *this;
        for (std::size_t r = 0; r < rows; ++r) {
            V& to = end.y[std::size_t(row[r])];
            to = scaled(end.alpha, sums[r], end.beta, to);
        }
    }
    /// Rows that follow one another, in loops that a compiler makes vectors of.
    NZ_ALWAYS_INLINE void put_run(std::size_t first, std::size_t rows, const V* sums) const {
        V* const to = y + first;
        if (beta == V(0)) {
#pragma omp simd
            for (std::size_t r = 0; r < rows; ++r) to[r] = product(alpha, sums[r]);
            return;
        }
#pragma omp simd
        for (std::size_t r = 0; r < rows; ++r)
            to[r] = product(alpha, sums[r]) + product(beta, to[r]);
    }
};

/// y = keep x - momentum y + step w (b - sum), of linear_operator::relaxation.
template <class V>
struct relaxed_rows {
    typename linear_operator<V, cpu>::relaxation how;
    const V* x;  ///< the vector that A multiplies
    V* y;

    NZ_ALWAYS_INLINE void put_listed(const index* row, std::size_t rows, const V* sums) const {
        for (std::size_t r = 0; r < rows; ++r) put_run(std::size_t(row[r]), 1, sums + r);
    }
    NZ_ALWAYS_INLINE void put_run(std::size_t first, std::size_t rows, const V* sums) const {
        if (how.momentum != real<V>(0)) return weigh<true>(first, rows, sums);
        weigh<false>(first, rows, sums);
    }

  private:
    template <bool moves>
    NZ_ALWAYS_INLINE void weigh(std::size_t first, std::size_t rows, const V* sums) const {
        if (how.w.size() > 0) return relax<moves, true>(first, rows, sums);
        relax<moves, false>(first, rows, sums);
    }
    /// Without a branch on what is absent: a loop with one is not vectorised.
    template <bool moves, bool weighs>
    NZ_ALWAYS_INLINE void relax(std::size_t first, std::size_t rows, const V* sums) const {
        const real<V> keep = how.keep, step = how.step;
        [[maybe_unused]] const real<V> momentum = how.momentum;
        const real<V>* const w = weighs ? how.w.data() + first : nullptr;
        const V *const b = how.b.data() + first, *const now = x + first;
        V* const to = y + first;
#pragma omp simd
        for (std::size_t r = 0; r < rows; ++r) {
            V next = keep * now[r];
            if constexpr (moves) next -= momentum * to[r];
            if constexpr (weighs) {
                next += step * (w[r] * (b[r] - sums[r]));
            } else {
                next += step * (b[r] - sums[r]);
            }
            to[r] = next;
        }
    }
};

/// y = alpha sum + beta y, and the update of it that linear_operator::fused_update asks for.
template <class V>
struct fused_rows {
    scaled_rows<V> product;
    typename linear_operator<V, cpu>::fused_update with;
    /// Of the rows so far, side by side: a sum need not wait for the one before.
    std::array<double, most_run> sum{};

    NZ_ALWAYS_INLINE void put_listed(const index* row, std::size_t rows, const V* sums) {
        for (std::size_t r = 0; r < rows; ++r) put_run(std::size_t(row[r]), 1, sums + r);
    }
    NZ_ALWAYS_INLINE void put_run(std::size_t first, std::size_t rows, const V* sums) {
        product.put_run(first, rows, sums);
        const V* const y = product.y + first;
        if (with.z.size() > 0) {
            const V* const b = with.b.data() + first;
            V* const z = with.z.data() + first;
#pragma omp simd
            for (std::size_t r = 0; r < rows; ++r) z[r] = y[r] - b[r];
        }
        if (with.parts.size() == 0) return;
        const V* const w = with.w.size() > 0 ? with.w.data() + first : y;
#pragma omp simd
        for (std::size_t r = 0; r < rows; ++r) sum[r] += real_product(w[r], y[r]);
    }
};

}  // namespace nz
