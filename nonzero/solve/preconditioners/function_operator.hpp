// Operators that are given by what they do to a vector: preconditioners, matrices never stored.
#pragma once

#include "nonzero/formats/linear_operator.hpp"

namespace nz {

/// An operator that knows y = f(x): what derives from it defines `map`. On a GPU `map` launches in
/// the stream that it was made for and does not wait. Where y = alpha f(x) + beta y is asked for,
/// f(x) goes to memory of its own first.
template <class V, class B>
class matrix_free_operator : public linear_operator<V, B> {
  public:
    matrix_free_operator(B on, nz::shape shape) : on_(on), shape_(shape) {}
    [[nodiscard]] nz::shape shape() const override { return shape_; }
    [[nodiscard]] std::size_t bytes() const override { return 0; }
    [[nodiscard]] B on() const { return on_; }

  protected:
    /// y = f(x). x: cols, y: rows.
    virtual void map(in<V, B> x, out<V, B> y) const = 0;
    /// Whether there is a map_many; else several vectors are mapped one after the other.
    [[nodiscard]] virtual bool maps_many() const { return false; }
    /// The same of up to 64 vectors that lie by rows without gaps.
    virtual void map_many(in_columns<V, B>, out_columns<V, B>) const {}

    void multiply(V alpha, in<V, B> x, V beta, out<V, B> y) const override;
    void multiply_many(V alpha, in_columns<V, B> X, V beta, out_columns<V, B> Y) const override;
    /// Throws unavailable: a function has no transposed product.
    void multiply_transposed(transposition, V, in<V, B>, V, out<V, B>) const override;
    void scale(V beta, out<V, B> y) const override;

  private:
    B on_;
    nz::shape shape_;
};

/// The operator of f(x, y), which sets y to what it makes of x:
///
///     const auto M = nz::make_operator<double>(nz::cpu{}, {n, n}, [&](auto x, auto y) {
///         for (std::size_t i = 0; i < y.size(); ++i) y[i] = x[i] / diagonal[i];
///     });
template <class V, class B, class F>
auto make_operator(B on, nz::shape shape, F f) {
    class function_operator final : public matrix_free_operator<V, B> {
      public:
        function_operator(B on, nz::shape shape, F f)
            : matrix_free_operator<V, B>(on, shape), f_(std::move(f)) {}

      protected:
        void map(in<V, B> x, out<V, B> y) const override { f_(x, y); }

      private:
        F f_;
    };
    return function_operator(on, shape, std::move(f));
}

}  // namespace nz
