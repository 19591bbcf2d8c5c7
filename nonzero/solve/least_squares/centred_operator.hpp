// A matrix whose columns have their means taken off, as principal components want it.
#pragma once

#include "nonzero/core/agreement.hpp"
#include "nonzero/formats/linear_operator.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// A - 1 mu^T, mu_j the mean of column j. A real, one product at a time.
template <class V, class B>
class centred_operator final : public linear_operator<V, B> {
  public:
    centred_operator(B on, const linear_operator<V, B>& A)
        : A_(A),
          of_rows_(on, A.shape().rows),
          of_cols_(on, A.shape().cols),
          ones_(of_rows_.make()),
          mean_(of_cols_.make()) {
        const double rows = double(summed_over(ranks_of(on), std::int64_t(A.shape().rows)));
        of_rows_.fill(V(1), ones_);
        A.apply_transposed(transposition::transpose, V(rows > 0 ? 1 / rows : 0), ones_, V(0),
                           mean_);
    }
    [[nodiscard]] nz::shape shape() const override { return A_.shape(); }
    [[nodiscard]] std::size_t bytes() const override { return A_.bytes(); }

  protected:
    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override {
        A_.apply(alpha, x, beta, y);
        of_rows_.axpy(-alpha * of_cols_.dot(mean_, x), ones_, y);
    }
    void multiply_transposed(transposition op, V alpha, in<V, B> x, V beta,
                             out<V, B> y) const override {
        A_.apply_transposed(op, alpha, x, beta, y);
        of_cols_.axpy(-alpha * of_rows_.dot(ones_, x), mean_, y);
    }
    void scale(V beta, out<V, B> y) const override {
        auto& space = y.size() == ones_.size() ? of_rows_ : of_cols_;
        beta == V(0) ? space.fill(V(0), y) : space.scale(beta, y);
    }

  private:
    const linear_operator<V, B>& A_;
    mutable vector_space<V, B> of_rows_, of_cols_;  // for one thread, as a solver is
    vector<V, B> ones_, mean_;
};

}  // namespace nz
