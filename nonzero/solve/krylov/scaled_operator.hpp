// An operator in another scale, for matrices whose squares no number holds.
#pragma once

#include <cmath>

#include "nonzero/formats/registry.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// y = alpha A (2^k x) + beta y: x is scaled as A x may be beyond the numbers that there are.
template <class V, class B>
class scaled_operator final : public linear_operator<V, B> {
  public:
    scaled_operator(B on, const linear_operator<V, B>& A, int k)
        : A_(A),
          factor_(std::ldexp(real<V>(1), k)),
          space_(on, A.shape().rows),
          scaled_(space_.make()) {}
    [[nodiscard]] nz::shape shape() const override { return A_.shape(); }
    [[nodiscard]] std::size_t bytes() const override { return A_.bytes(); }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        space_.axpby(factor_, x, V(0), scaled_);
        A_.apply(alpha, scaled_, beta, y);
    }
    void multiply_transposed(transposition, V, in<V, B>, V, out<V, B>) const override {
        throw unavailable("a scaled operator is not transposed");
    }
    void scale(V beta, out<V, B> y) const override {
        beta == V(0) ? space_.fill(V(0), y) : space_.scale(beta, y);
    }

  private:
    const linear_operator<V, B>& A_;
    V factor_;
    mutable vector_space<V, B> space_;  // for one thread, as a solver is
    mutable vector<V, B> scaled_;
};

}  // namespace nz
