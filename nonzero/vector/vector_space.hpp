// Vectors where a backend computes, and what solvers do with them. Solvers are written over these
// and never mention CUDA.
#pragma once

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// Owns elements where B computes; uninitialised when made. Converts to in<T, B> and out<T, B>.
template <class T, class B>
using vector = array<T, typename B::memory>;

/// A vector of the host's from one of B's; see also core/gpu.hpp.
template <class T>
host_vector<T> to_host(cpu, std::span<const T> v) {
    return {v.begin(), v.end()};
}

/// The vectors of n elements of V on B: makes them and computes with them. Every operation is one
/// fused kernel; sums have the same bits in every run, on the CPU for any number of threads. On a
/// GPU all of it happens in on.stream, and only what returns a number or a host's vector waits.
/// Holds the sums' memory, so it is for one thread and one stream at a time. Vectors may be the
/// same or disjoint. Throws argument_error where a length is not n.
template <class V, class B>
class vector_space {
  public:
    explicit vector_space(B on, std::int64_t n);
    vector_space(vector_space&&) noexcept = default;  // the scratch memory stays where it is
    [[nodiscard]] B on() const { return on_; }        ///< with the sums' memory for its scratch
    [[nodiscard]] std::int64_t dimension() const { return n_; }

    [[nodiscard]] vector<V, B> make() const;  ///< uninitialised
    [[nodiscard]] vector<V, B> zero();        ///< all 0

    void fill(V alpha, out<V, B> y);                       ///< y_i = alpha
    void copy(in<V, B> x, out<V, B> y);                    ///< y = x
    void scale(V alpha, out<V, B> y);                      ///< y = alpha y
    void axpy(V alpha, in<V, B> x, out<V, B> y);           ///< y = alpha x + y
    void xpby(in<V, B> x, V beta, out<V, B> y);            ///< y = x + beta y
    void axpby(V alpha, in<V, B> x, V beta, out<V, B> y);  ///< y = alpha x + beta y
    void multiply(in<V, B> d, in<V, B> x, out<V, B> y);    ///< y_i = d_i x_i
    [[nodiscard]] V dot(in<V, B> x, in<V, B> y);           ///< sum of conj(x_i) y_i
    [[nodiscard]] real<V> norm(in<V, B> x);                ///< sqrt(sum of |x_i|^2)

  private:
    void check(const char* what, std::size_t len) const;
    template <class... Vectors>
    void check_all(const char* what, const Vectors&... v) const {
        (check(what, v.size()), ...);
    }

    B on_;
    std::int64_t n_;
    vector<std::byte, B> scratch_;
    vector<std::byte, B> result_;  ///< the last sum
};

}  // namespace nz
