// The scalar functions of core/arithmetic.hpp and scalar.hpp for complex numbers in kernels.
#pragma once

#include "nonzero/core/device_complex.cuh"
#include "nonzero/vector/scalar.hpp"

namespace nz {

template <class R>
struct wide_value_of<device_complex<R>> : std::type_identity<device_complex<double>> {};

template <class R>
__device__ device_complex<R> product(device_complex<R> a, device_complex<R> b) {
    return a * b;
}
template <class R>
__device__ device_complex<R> conjugated(transposition op, device_complex<R> v) {
    return op == transposition::conjugate_transpose ? device_complex<R>(v.re, -v.im) : v;
}
template <class R>
__device__ double real_product(device_complex<R> a, device_complex<R> b) {
    return double(a.re) * double(b.re) + double(a.im) * double(b.im);
}
template <class R>
__device__ device_complex<double> inner_product(device_complex<R> a, device_complex<R> b) {
    return device_complex<double>(a.re, -a.im) * device_complex<double>(b.re, b.im);
}
template <class V>
requires std::is_same_v<wide_value<V>, device_complex<double>> __device__ V
rounded_to(wide_value<V> w) {
    using R = decltype(V::re);
    return {R(w.re), R(w.im)};
}
template <class R>
__device__ device_complex<R> multiple(double f, device_complex<R> v) {
    return R(f) * v;
}
template <class R>
__device__ R real_part(device_complex<R> v) {
    return v.re;
}
template <class R>
__device__ device_complex<R> rounded_product(device_complex<R> a, device_complex<R> b) {
    return {rounded_product(a.re, b.re) - rounded_product(a.im, b.im),
            rounded_product(a.re, b.im) + rounded_product(a.im, b.re)};
}
template <class R>
__device__ device_complex<R> rounded_product(R a, device_complex<R> b) {
    return {rounded_product(a, b.re), rounded_product(a, b.im)};
}
template <class R>
__device__ device_complex<R> quotient(device_complex<R> v, R by) {
    return {v.re / by, v.im / by};
}
template <class R>
__device__ device_complex<R> reciprocal(device_complex<R> v) {
    return reciprocal_of<device_complex<R>>(v.re, v.im);
}
template <class R>
__device__ device_complex<R> operator/(device_complex<R> a, device_complex<R> b) {
    return a * reciprocal(b);
}
template <class R>
__device__ R squared(device_complex<R> v) {
    return rounded_product(v.re, v.re) + rounded_product(v.im, v.im);
}
template <class R>
__device__ R magnitude(device_complex<R> v) {
    return hypotenuse(v.re, v.im);
}
__device__ inline bool is_finite(float v) { return isfinite(v); }
__device__ inline bool is_finite(double v) { return isfinite(v); }
template <class R>
__device__ bool is_finite(device_complex<R> v) {
    return isfinite(v.re) && isfinite(v.im);
}
template <class R>
__device__ device_complex<R> load_once(const device_complex<R>* p) {
    return {__ldcs(&p->re), __ldcs(&p->im)};
}
template <class R>
__device__ void store_once(device_complex<R>* p, device_complex<R> v) {
    __stcs(&p->re, v.re), __stcs(&p->im, v.im);
}

}  // namespace nz
