// Vectors where a backend computes, and what solvers do with them. Solvers are written over these
// and never mention CUDA.
#pragma once

#include "nonzero/core/gpu.hpp"
#include "nonzero/vector/fused.hpp"

namespace nz {

/// The space that owns memory where B computes.
template <class B>
using space_of = std::conditional_t<std::is_same_v<B, cpu>, host, device>;

/// Owns elements where B computes; uninitialised when made. Converts to in<T, B> and out<T, B>.
template <class T, class B>
using vector = array<T, space_of<B>>;

/// A vector of that many elements, uninitialised.
template <class T>
host_vector<T> make_vector(cpu, std::size_t len) {
    return host_vector<T>(len);
}
template <class T>
device_array<T> make_vector(gpu on, std::size_t len) {
    return {on, len};
}

/// A vector of B's from one of the host's, and back. Both return when the copy is there.
template <class T>
host_vector<T> from_host(cpu, std::span<const T> v) {
    return {v.begin(), v.end()};
}
template <class T>
device_array<T> from_host(gpu on, std::span<const T> v) {
    const device_guard guard(on);
    return to_device<T>(on, v);
}
template <class T>
host_vector<T> to_host(cpu, std::span<const T> v) {
    return {v.begin(), v.end()};
}

/// A struct of scalars where B computes, for fused kernels to read and write.
template <class S, class B>
class scalars_on {
  public:
    scalars_on(B on, const S& s) : on_(on), at_(from_host(on, std::span<const S>(&s, 1))) {}
    [[nodiscard]] S* data() { return at_.data(); }
    /// Waits for what wrote them.
    [[nodiscard]] S read() const { return to_host<S>(on_, in<S, B>(at_))[0]; }
    void write(const S& s) {
        if constexpr (std::is_same_v<B, cpu>) {
            at_[0] = s;
        } else {
            copy_to_device(on_, &s, at_.data(), sizeof(S));
        }
    }

  private:
    B on_;
    vector<S, B> at_;
};

template <class V>
struct one_scalar {
    V value;
};

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
    [[nodiscard]] B on() const { return on_; }
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

    /// One pass of a step of the caller's own; `at` lies where B computes.
    template <fused_step Step>
    void run(const Step& step, typename Step::scalars* at) {
        run_fused(on_, n_, step, at);
    }

  private:
    void check(const char* what, std::size_t len) const;
    template <class... Vectors>
    void check_all(const char* what, const Vectors&... v) const {
        (check(what, v.size()), ...);
    }

    B on_;
    std::int64_t n_;
    vector<std::byte, B> scratch_;
    scalars_on<one_scalar<V>, B> result_;
};

}  // namespace nz
