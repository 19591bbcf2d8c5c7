// Definition of a storage format, and copies of every format to a GPU and back, once.
#pragma once

#include <array>
#include <concepts>
#include <string_view>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/shape.hpp"
#include "nonzero/core/stream.hpp"

namespace nz {

struct matrix_stats;  // nonzero/formats/matrix_stats.hpp
struct estimate;      // nonzero/formats/estimate.hpp

template <class V, class S>
struct csr;

/// A format: one struct over a space, with its arrays listed once.
template <class F>
concept format = requires(F& own, const matrix_stats& s,
                          const csr<typename F::value, host_view>& A) {
    typename F::template in_space<host_view>;
    { F::cost(s) } -> std::same_as<estimate>;
    { F::from(A) } -> std::same_as<F>;
    F::scalars(own);
    F::arrays(own);
    requires std::is_trivially_copyable_v<typename F::template in_space<device_view>>;
};

/// y = beta y, y not read where beta is 0.
template <class V>
void scale_vector(cpu, V beta, std::span<V> y) {
    for (V& v : y) v = beta == V(0) ? V(0) : product(beta, v);
}

template <class T>
void copy(gpu on, std::span<const T> from, device_array<T>& to) {
    to = device_array<T>(on, from.size());
    copy_to_device(on, from.data(), to.data(), from.size() * sizeof(T));
}
template <class T>
void copy(gpu on, const host_vector<T>& from, device_array<T>& to) {
    copy(on, std::span<const T>(from), to);
}
/// Arrays that stay on the host are copied as they are.
template <class T>
void copy(gpu, const host_vector<T>& from, host_vector<T>& to) {
    to = from;
}
inline void copy(gpu, const offset_vector& from, offset_vector& to) { to = from; }
inline void copy(gpu on, const offset_span& from, device_offsets& to) {
    const std::size_t bytes = from.size() * (from.wide() ? 8 : 4);
    to = {device_array<std::byte>(on, bytes), from.size(), from.wide()};
    copy_to_device(on, from.data(), to.bytes.data(), bytes);
}
inline void copy(gpu on, const offset_vector& from, device_offsets& to) {
    copy(on, offset_span(from), to);
}

template <class T>
void copy(gpu on, device_span<T> from, device_array<T>& to) {
    to = device_array<T>(on, from.size());
    copy_on_device(on, from.data(), to.data(), from.size() * sizeof(T));
}
inline void copy(gpu on, const device_offset_span& from, device_offsets& to) {
    const std::size_t bytes = from.size() * (from.wide ? 8 : 4);
    to = {device_array<std::byte>(on, bytes), from.size(), from.wide};
    copy_on_device(on, from.ptr, to.bytes.data(), bytes);
}

/// Copies a matrix, owned or borrowed, to the GPU; also one in GPU memory already, whose copy is
/// made in the order of the stream. Throws device_error.
template <class F>
auto upload(gpu on, const F& a) {
    typename F::template in_space<device> d{};
    d.scalars(d) = a.scalars(a);
    std::apply(
        [&](auto&... to) {
            std::apply([&](const auto&... from) { (copy(on, from, to), ...); }, a.arrays(a));
        },
        d.arrays(d));
    return d;
}

template <class T>
void copy(gpu on, device_span<T> from, host_vector<T>& to) {
    to.resize(from.size());
    copy_to_host(on, from.data(), to.data(), to.size() * sizeof(T));
}
template <class T>
void copy(gpu on, const device_array<T>& from, host_vector<T>& to) {
    copy(on, device_span<T>(from), to);
}
inline void copy(gpu on, const device_offset_span& from, offset_vector& to) {
    const auto fetch = [&]<class T>(host_vector<T> p) {
        copy_to_host(on, from.ptr, p.data(), p.size() * sizeof(T));
        return p;
    };
    to = from.wide ? offset_vector::wide(fetch(host_vector<std::int64_t>(from.len)))
                   : offset_vector(fetch(host_vector<std::int32_t>(from.len)));
}
inline void copy(gpu on, const device_offsets& from, offset_vector& to) {
    copy(on, device_offset_span(from), to);
}

/// Copies a matrix, owned or borrowed, back from the GPU. Throws device_error.
template <class F>
auto download(gpu on, const F& a) {
    typename F::template in_space<host> h{};
    h.scalars(h) = a.scalars(a);
    std::apply(
        [&](auto&... to) {
            std::apply([&](const auto&... from) { (copy(on, from, to), ...); }, a.arrays(a));
        },
        h.arrays(h));
    return h;
}

}  // namespace nz
