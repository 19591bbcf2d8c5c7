// One of several vectors, or some of them.
#pragma once

#include <string>

#include "nonzero/core/backend.hpp"
#include "nonzero/core/error.hpp"

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

/// Throws unless there are `count` vectors of `len` elements each.
template <class Array>
void check_columns(const char* what, const char* name, const columns<Array>& all, index count,
                   std::size_t len) {
    const auto wrong = [&](const std::string& why) {
        throw argument_error(std::string(what) + ": " + name + why);
    };
    if (all.count != count || count < 0)
        wrong(" has " + std::to_string(all.count) + " vectors, expected " + std::to_string(count));
    // `lines` runs of `line` elements: vectors, or rows.
    const std::size_t line = all.by_row() ? std::size_t(count) : len;
    const std::size_t lines = all.by_row() ? len : std::size_t(count);
    if (lines > 1 && all.stride < line)
        wrong("'s stride is " + std::to_string(all.stride) + ", expected at least " +
              std::to_string(line));
    const std::size_t size = all.values.size();
    const auto fits = [&] {
        if (lines == 0 || line == 0) return true;
        if (size < line) return false;
        // Divided, as the product with a large stride would wrap around.
        return lines == 1 || (size - line) / (lines - 1) >= all.stride;
    };
    if (!fits())
        wrong(" has " + std::to_string(size) + " elements, too few for " + std::to_string(count) +
              " vectors of " + std::to_string(len) + (all.by_row() ? " by rows" : "") +
              " at a stride of " + std::to_string(all.stride));
}

}  // namespace nz
