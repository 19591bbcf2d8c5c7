// The size of a matrix; views and byte counts of every format, once.
#pragma once

#include <tuple>

#include "nonzero/core/device_array.hpp"

namespace nz {

struct shape {
    index rows = 0;
    index cols = 0;
    friend bool operator==(const shape&, const shape&) = default;
};

/// Borrows an owning matrix, on the CPU or on the GPU.
template <class F>
auto view(const F& a) {
    typename F::template in_space<typename F::space::view> v{};
    // One by one: std::tuple's own assignment takes the compiler several times as long.
    const auto each =
        []<std::size_t... k>(const auto& to, const auto& from, std::index_sequence<k...>) {
        ((std::get<k>(to) = std::get<k>(from)), ...);
    };
    const auto assign = [&]<class... T>(const std::tuple<T&...>& to, const auto& from) {
        each(to, from, std::index_sequence_for<T...>());
    };
    assign(v.scalars(v), a.scalars(a));
    assign(v.arrays(v), a.arrays(a));
    return v;
}

/// Bytes held by the arrays of a matrix, padding included.
template <class F>
std::size_t bytes(const F& a) {
    const auto of = [](const auto& x) {
        if constexpr (requires { x.size_bytes(); }) {
            return x.size_bytes();
        } else {
            return x.size() * sizeof(*x.data());
        }
    };
    return std::apply([&](const auto&... x) { return (std::size_t(0) + ... + of(x)); },
                      a.arrays(a));
}

}  // namespace nz
