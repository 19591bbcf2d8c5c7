// One of several vectors, or some of them.
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

/// `count` of the vectors, from the first on.
template <class Array>
columns<Array> some_of(const columns<Array>& all, index first, index count) {
    const std::size_t at = std::min(std::size_t(first) * all.vector_stride(), all.values.size());
    return {{all.values.data() + at, all.values.size() - at}, all.stride, count, all.order};
}

/// The place of several vectors in their array.
struct columns_layout {
    std::size_t stride, size;  ///< size: the array's elements
    index count;
    bool by_row;
};

/// Throws argument_error, of the argument `name` of `what`, unless there are `count` vectors of
/// `len` elements each.
void check_columns(const char* what, const char* name, const columns_layout&, index count,
                   std::size_t len);
template <class Array>
void check_columns(const char* what, const char* name, const columns<Array>& all, index count,
                   std::size_t len) {
    const columns_layout layout{all.stride, all.values.size(), all.count, all.by_row()};
    check_columns(what, name, layout, count, len);
}

}  // namespace nz
