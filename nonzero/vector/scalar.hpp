// The scalars of solvers: double precision, whatever the vectors are.
#pragma once

#include <cmath>
#include <concepts>
#include <type_traits>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// V's kind in double precision: what scalar products and the scalars made of them are.
template <class V>
struct wide_value_of : std::type_identity<double> {};
template <class R>
struct wide_value_of<std::complex<R>> : std::type_identity<std::complex<double>> {};
template <class V>
using wide_value = typename wide_value_of<V>::type;

/// w in V's precision.
template <class V>
requires std::floating_point<V> || is_complex<V> NZ_HOST_DEVICE constexpr V rounded_to(
    wide_value<V> w) {
    if constexpr (is_complex<V>) {
        return {real<V>(w.real()), real<V>(w.imag())};
    } else {
        return V(w);
    }
}

/// a * b, rounded before anything is added to it: the same bits on every backend.
template <class V>
NZ_HOST_DEVICE V rounded_product(V a, V b) {
#if defined(__CUDA_ARCH__)
    if constexpr (sizeof(V) == sizeof(float)) {
        return __fmul_rn(a, b);
    } else {
        return __dmul_rn(a, b);
    }
#else
    return a * b;
#endif
}

template <class V>
NZ_HOST_DEVICE constexpr real<V> real_part(V v) {
    if constexpr (is_complex<V>) {
        return v.real();
    } else {
        return v;
    }
}

/// v over a real number.
template <class V>
NZ_HOST_DEVICE constexpr V quotient(V v, real<V> by) {
    return v / by;
}

/// f v, where f is rounded to V's precision.
template <class V>
NZ_HOST_DEVICE constexpr V multiple(double f, V v) {
    return real<V>(f) * v;
}

/// |v|^2 in V's precision: the same bits on every backend.
template <class V>
NZ_HOST_DEVICE real<V> squared(V v) {
    if constexpr (is_complex<V>) {
        return v.real() * v.real() + v.imag() * v.imag();
    } else {
        return rounded_product(v, v);
    }
}

/// The square root of a^2 + b^2, by operations that every backend rounds alike, as std::hypot is
/// not.
template <class R>
NZ_HOST_DEVICE R hypotenuse(R a, R b) {
    const R x = std::fabs(a), y = std::fabs(b);
    const R longer = x > y ? x : y, ratio = (x > y ? y : x) / longer;
    return longer == R(0) ? x : longer * std::sqrt(R(1) + rounded_product(ratio, ratio));
}

/// |v|: the same bits on every backend.
template <class V>
NZ_HOST_DEVICE real<V> magnitude(V v) {
    if constexpr (is_complex<V>) {
        return hypotenuse(v.real(), v.imag());
    } else {
        return std::fabs(v);
    }
}

/// 1 over a complex number, as a V: the same bits on every backend. No square is taken, as it could
/// overflow.
/// Source: Smith 1962, doi:10.1145/368637.368661.
template <class V, class R>
NZ_HOST_DEVICE V reciprocal_of(R re, R im) {
    if (std::fabs(re) >= std::fabs(im)) {
        const R ratio = im / re, below = re + rounded_product(im, ratio);
        return {R(1) / below, -ratio / below};
    }
    const R ratio = re / im, below = rounded_product(re, ratio) + im;
    return {ratio / below, R(-1) / below};
}
/// 1 / v: the same bits on every backend.
template <class V>
NZ_HOST_DEVICE V reciprocal(V v) {
    if constexpr (is_complex<V>) {
        return reciprocal_of<V>(v.real(), v.imag());
    } else {
        return V(1) / v;
    }
}

/// conj(a) b, in double.
template <class V>
NZ_HOST_DEVICE constexpr wide_value<V> inner_product(V a, V b) {
    return product(wide_value<V>(conjugated(transposition::conjugate_transpose, a)),
                   wide_value<V>(b));
}

}  // namespace nz
