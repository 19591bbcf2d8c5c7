// Complex numbers in kernels: std::complex's operators are functions of the host.
#pragma once

#include "nonzero/core/cuda.cuh"
#include "nonzero/core/format.hpp"

namespace nz {

/// The two parts as std::complex<R> stores them, with the textbook product (see nz::product).
template <class R>
struct device_complex {
    R re, im;
    device_complex() = default;
    __host__ __device__ device_complex(R a, R b = 0) : re(a), im(b) {}

    friend __device__ device_complex operator+(device_complex a, device_complex b) {
        return {a.re + b.re, a.im + b.im};
    }
    friend __device__ device_complex operator-(device_complex a, device_complex b) {
        return {a.re - b.re, a.im - b.im};
    }
    friend __device__ device_complex operator*(device_complex a, device_complex b) {
        return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
    }
    friend __device__ device_complex operator*(R a, device_complex b) {
        return {a * b.re, a * b.im};
    }
    friend __device__ bool operator==(device_complex a, device_complex b) {
        return a.re == b.re && a.im == b.im;
    }
    __device__ device_complex& operator+=(device_complex b) { return *this = *this + b; }
    __device__ device_complex& operator-=(device_complex b) { return *this = *this - b; }

    // As CUDA's own, of the same name, for the types that it knows; found by their argument.
    friend __device__ device_complex __shfl_down_sync(unsigned lanes, device_complex v,
                                                      unsigned step, int width) {
        return {::__shfl_down_sync(lanes, v.re, step, width),
                ::__shfl_down_sync(lanes, v.im, step, width)};
    }
    friend __device__ device_complex __shfl_sync(unsigned lanes, device_complex v, int lane) {
        return {::__shfl_sync(lanes, v.re, lane), ::__shfl_sync(lanes, v.im, lane)};
    }
    friend __device__ device_complex __ldcg(const device_complex* p) {
        return {::__ldcg(&p->re), ::__ldcg(&p->im)};
    }
};

template <class V>
struct device_value_of : std::type_identity<V> {};
template <class R>
struct device_value_of<std::complex<R>> : std::type_identity<device_complex<R>> {};
/// The type of V in kernels.
template <class V>
using device_value = typename device_value_of<V>::type;

template <class V>
device_value<V> in_kernels(V v) {
    if constexpr (is_complex<V>) {
        return {v.real(), v.imag()};
    } else {
        return v;
    }
}
template <class V>
device_value<V>* in_kernels(V* p) {
    static_assert(sizeof(device_value<V>) == sizeof(V));
    return reinterpret_cast<device_value<V>*>(p);
}
template <class V>
const device_value<V>* in_kernels(const V* p) {
    return reinterpret_cast<const device_value<V>*>(p);
}

/// A view of the matrix with the values that kernels know.
template <template <class, class> class L, class V>
L<device_value<V>, device_view> in_kernels(const L<V, device_view>& A) {
    L<device_value<V>, device_view> B{};
    B.scalars(B) = A.scalars(A);
    const auto put = []<class To, class From>(To& to, const From& from) {
        if constexpr (std::is_same_v<To, From>) {
            to = from;
        } else {
            to = {in_kernels(from.data()), from.size()};
        }
    };
    std::apply(
        [&](auto&... to) {
            std::apply([&](const auto&... from) { (put(to, from), ...); }, A.arrays(A));
        },
        B.arrays(B));
    return B;
}

}  // namespace nz
