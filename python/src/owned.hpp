// NumPy arrays that own what the library made, without a copy.
#pragma once

#include <nanobind/ndarray.h>

#include "nonzero/core/space.hpp"

namespace nz::python {

namespace nb = nanobind;

/// A NumPy array of the elements of v, which it owns from now on. In Fortran order where it has two
/// dimensions.
template <class Vector>
nb::object owned(Vector&& v, std::initializer_list<std::size_t> shape) {
    using T = typename std::remove_cvref_t<Vector>::value_type;
    auto held = std::make_unique<std::remove_cvref_t<Vector>>(std::forward<Vector>(v));
    T* const data = held->data();
    const nb::capsule owner(
        held.get(), [](void* p) noexcept { delete static_cast<std::remove_cvref_t<Vector>*>(p); });
    held.release();
    std::vector<std::int64_t> strides;
    std::int64_t stride = 1;
    for (const std::size_t len : shape) {
        strides.push_back(stride);
        stride *= std::int64_t(len);
    }
    return nb::cast(
        nb::ndarray<nb::numpy, T>(data, shape.size(), std::data(shape), owner, strides.data()));
}
template <class Vector>
nb::object owned(Vector&& v) {
    const std::size_t len = v.size();
    return owned(std::forward<Vector>(v), {len});
}

/// The positions of a CSR, as wide as they are held.
inline nb::object owned_offsets(const offset_span& p) {
    return p.visit([&](const auto* from) {
        using T = std::remove_cvref_t<decltype(*from)>;
        return owned(std::vector<T>(from, from + p.size()));
    });
}

}  // namespace nz::python
