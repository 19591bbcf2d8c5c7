// Ends of a row on a CPU: a product gives them the sums of rows.
#pragma once

#include <array>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/linear_operator.hpp"

namespace nz {

/// Rows of a run, at most.
inline constexpr std::size_t most_run = 256;

/// y = alpha sum + beta y.
template <class V>
struct scaled_rows {
    V alpha, beta;
    V* y;

    void put(std::size_t i, V sum) const { y[i] = scaled(alpha, sum, beta, y[i]); }
    /// Rows that follow one another, in loops that a compiler makes vectors of.
    void put_run(std::size_t first, std::size_t rows, const V* sums) const {
        V* const to = y + first;
        if (beta == V(0)) {
            for (std::size_t r = 0; r < rows; ++r) to[r] = product(alpha, sums[r]);
        } else {
            for (std::size_t r = 0; r < rows; ++r)
                to[r] = product(alpha, sums[r]) + product(beta, to[r]);
        }
    }
};

/// y = keep x - momentum y + step w (b - sum), of linear_operator::relaxation.
template <class V>
struct relaxed_rows {
    typename linear_operator<V, cpu>::relaxation how;
    const V* x;  ///< the vector that A multiplies
    V* y;

    void put(std::size_t i, V sum) const { put_run(i, 1, &sum); }
    void put_run(std::size_t first, std::size_t rows, const V* sums) const {
        if (how.momentum != real<V>(0)) return weigh<true>(first, rows, sums);
        weigh<false>(first, rows, sums);
    }

  private:
    template <bool moves>
    void weigh(std::size_t first, std::size_t rows, const V* sums) const {
        if (how.w.size() > 0) return relax<moves, true>(first, rows, sums);
        relax<moves, false>(first, rows, sums);
    }
    /// Without a branch on what is absent: a loop with one is not vectorised.
    template <bool moves, bool weighs>
    void relax(std::size_t first, std::size_t rows, const V* sums) const {
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

    void put(std::size_t i, V row_sum) { put_run(i, 1, &row_sum); }
    void put_run(std::size_t first, std::size_t rows, const V* sums) {
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
