// One of several vectors.
#pragma once

#include "nonzero/core/backend.hpp"

namespace nz {

/// The c-th of the vectors, of `len` elements.
template <class V>
std::span<V> column(const columns<std::span<V>>& all, index c, std::size_t len) {
    return all.values.subspan(std::size_t(c) * all.stride, len);
}
template <class V>
device_span<V> column(const columns<device_span<V>>& all, index c, std::size_t len) {
    return {all.values.data() + std::size_t(c) * all.stride, len};
}
template <class V>
device_out<V> column(const columns<device_out<V>>& all, index c, std::size_t len) {
    return {all.values.data() + std::size_t(c) * all.stride, len};
}

}  // namespace nz
