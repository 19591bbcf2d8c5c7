// The arithmetic that kernels need beyond + and *, for every value type, on the CPU and on the GPU.
#pragma once

#include <string_view>
#include <type_traits>

#include "nonzero/core/value.hpp"

/// Before a function that loops on the CPU and kernels on the GPU share.
#if defined(__CUDACC__)
#define NZ_HOST_DEVICE __host__ __device__
#else
#define NZ_HOST_DEVICE
#endif

namespace nz {

/// "float", "double", "complex<float>" or "complex<double>".
template <class V>
constexpr std::string_view value_name() {
    if constexpr (std::is_same_v<V, float>) return "float";
    if constexpr (std::is_same_v<V, double>) return "double";
    if constexpr (std::is_same_v<V, std::complex<float>>) return "complex<float>";
    if constexpr (std::is_same_v<V, std::complex<double>>) return "complex<double>";
}

/// a * b. For complex numbers the textbook formula: std::complex's own operator repairs NaNs
/// (C11 Annex G) by a library call in every product, which keeps loops from being vectorised.
template <class V>
NZ_HOST_DEVICE constexpr V product(V a, V b) {
    if constexpr (is_complex<V>) {
        return {a.real() * b.real() - a.imag() * b.imag(),
                a.real() * b.imag() + a.imag() * b.real()};
    } else {
        return a * b;
    }
}

/// The real part of conj(a) b, in double.
template <class V>
NZ_HOST_DEVICE constexpr double real_product(V a, V b) {
    if constexpr (is_complex<V>) {
        return double(a.real()) * double(b.real()) + double(a.imag()) * double(b.imag());
    } else {
        return double(a) * double(b);
    }
}

/// |v|^2 in double.
template <class V>
NZ_HOST_DEVICE constexpr double norm2(V v) {
    return real_product(v, v);
}

/// alpha * sum + beta * y, reading y only where beta is not zero.
template <class V>
constexpr V scaled(V alpha, V sum, V beta, const V& y) {
    return beta == V(0) ? product(alpha, sum) : product(alpha, sum) + product(beta, y);
}

/// v, or its conjugate where `op` asks for it.
template <class V>
NZ_HOST_DEVICE constexpr V conjugated(transposition op, V v) {
    if constexpr (is_complex<V>) {
        return op == transposition::conjugate_transpose ? std::conj(v) : v;
    } else {
        (void)op;
        return v;
    }
}

}  // namespace nz
