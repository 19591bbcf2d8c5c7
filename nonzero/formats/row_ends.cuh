// Ends of a row on a GPU: a product gives them the sums of rows.
#pragma once

#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {
namespace {

/// y = alpha sum + beta y.
template <class V>
struct scaled_row {
    V alpha, beta;
    __device__ void operator()(V* y, index, V sum) const { store_scaled(y, alpha, sum, beta); }
};

/// y = keep x - momentum y + step w (b - sum), of linear_operator::relaxation.
template <class V>
struct relaxed_row {
    V keep, momentum, step;
    const V *w, *b, *x;  ///< w: null where W is the identity; x: the vector that A multiplies

    relaxed_row(const typename linear_operator<V, gpu>::relaxation& how, const V* x)
        : keep(how.keep),
          momentum(how.momentum),
          step(how.step),
          w(how.w.size() > 0 ? how.w.data() : nullptr),
          b(how.b.data()),
          x(x) {}
    __device__ void operator()(V* y, index i, V sum) const {
        const V scale = w == nullptr ? step : step * w[i];
        const V before = momentum == V(0) ? V(0) : *y, now = keep == V(0) ? V(0) : x[i];
        *y = keep * now - momentum * before + scale * (b[i] - sum);
    }
};

/// y = alpha sum + beta y, and the update of it that linear_operator::fused_update asks for.
template <class V>
struct fused_row {
    V alpha, beta;
    const V* b;
    V* z;            ///< null: not wanted
    const V* w;      ///< null: y
    double* parts;   ///< null: not wanted
    double sum = 0;  ///< of this thread's rows

    fused_row(V alpha, V beta, const typename linear_operator<V, gpu>::fused_update& with)
        : alpha(alpha),
          beta(beta),
          b(with.b.data()),
          z(with.z.size() > 0 ? with.z.data() : nullptr),
          w(with.w.size() > 0 ? with.w.data() : nullptr),
          parts(with.parts.size() > 0 ? with.parts.data() : nullptr) {}
    __device__ void operator()(V* y, index i, V row_sum) {
        const V mine = beta == V(0) ? alpha * row_sum : alpha * row_sum + beta * *y;
        *y = mine;
        if (z != nullptr) z[i] = mine - b[i];
        if (parts != nullptr) sum += double(w != nullptr ? w[i] : mine) * double(mine);
    }
    /// Once by every thread of a block, after its rows.
    template <int threads>
    __device__ void finish_block() const {
        if (parts == nullptr) return;
        wait_for_previous();  // a thread without rows has not, and the parts may still be read
        const auto of_block = sum_block<threads>(sums<double, 1>{{sum}});
        if (threadIdx.x == 0) parts[blockIdx.x] = of_block[0];
    }
};

}  // namespace
}  // namespace nz
