// A few long vectors that are used together, as an eigenvalue solver's basis is.
#pragma once

#include <cmath>

#include "nonzero/vector/vectors.hpp"

namespace nz {

/// Vectors that a basis holds at most on a GPU, and what that takes of a thread's memory in
/// basis_rotate; eigs holds no more on a CPU.
inline constexpr int max_basis = 128;

/// The lengths of w = w - sum of c_k v_k, and of c.
struct basis_subtraction {
    double left2, taken2;  ///< the squares
    [[nodiscard]] double left() const { return std::sqrt(left2); }
    [[nodiscard]] double taken() const { return std::sqrt(taken2); }
};

/// Up to `capacity` vectors v_0, v_1, ... of n elements where B computes, and what a solver does
/// with the first `count` of them. Sums are in double whatever V is, and have the same bits in
/// every run, on the CPU for any number of threads.
///
/// Moves    each operation reads those vectors once.
template <class V, class B>
class vector_basis {
  public:
    vector_basis(B on, std::int64_t n, int capacity);

    [[nodiscard]] out<V, B> column(int k) { return {vectors_.data() + k * n_, std::size_t(n_)}; }
    /// The first `count` of the vectors, one after the other.
    [[nodiscard]] host_vector<V> to_host(int count) const;

    /// `count` of the vectors from `first` on.
    [[nodiscard]] in_columns<V, B> read(int first, int count) {
        return {column(first, count), std::size_t(n_), count, storage_order::column_major};
    }
    [[nodiscard]] out_columns<V, B> write(int first, int count) {
        return {column(first, count), std::size_t(n_), count, storage_order::column_major};
    }

    /// c_k = (v_k, w), which stay where B computes.
    void project(int count, in<V, B> w) { project(count, w, 0); }
    /// (v_k, v_j), at place j count + k, for k <= j.
    [[nodiscard]] std::vector<double> gram(int count);
    /// w = w - sum of c_k v_k, of the coefficients that `project` left.
    basis_subtraction subtract(int count, out<V, B> w);
    /// The same, and projects the new w.
    double subtract_and_project(int count, out<V, B> w);
    [[nodiscard]] std::vector<double> coefficients(int count) const;

    /// x = sum of y_k v_k
    void combine(std::span<const double> y, out<V, B> x);
    /// The first `to` vectors become sums of the first `from`: v_j = sum of y_(j from + k) v_k.
    void rotate(int from, int to, std::span<const double> y);

    /// r = image - theta x, which may be one of them; gives |r|.
    double residual(in<V, B> image, double theta, in<V, B> x, out<V, B> r);
    /// The same of vectors from `first` on, each with its theta, in the places of their images,
    /// from `images` on. Waits once.
    std::vector<double> residuals(int first, std::span<const double> theta, int images);

  private:
    void project(int count, in<V, B> w, std::int64_t at);
    out<V, B> column(int first, int count) {
        return {column(first).data(), std::size_t(count) * std::size_t(n_)};
    }
    void give(std::span<const double> c);

    std::int64_t n_;
    int capacity_;
    vector_space<V, B> space_;
    vector<V, B> vectors_;
    vector<double, B> coefficients_;
    scalars_on<one_scalar<double>, B> sum_;
    scalars_on<basis_subtraction, B> subtraction_;
    vector<double, B> partial_;  ///< sums, block by block
};

}  // namespace nz
