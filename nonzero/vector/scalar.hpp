// The scalars of solvers: double precision, whatever the vectors are.
#pragma once

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// V's kind in double precision: what scalar products and the scalars made of them are.
template <class V>
using wide_value = std::conditional_t<is_complex<V>, std::complex<double>, double>;

/// w in V's precision.
template <class V>
NZ_HOST_DEVICE constexpr V rounded_to(wide_value<V> w) {
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

/// conj(a) b, in double.
template <class V>
NZ_HOST_DEVICE constexpr wide_value<V> inner_product(V a, V b) {
    return product(wide_value<V>(conjugated(transposition::conjugate_transpose, a)),
                   wide_value<V>(b));
}

}  // namespace nz
