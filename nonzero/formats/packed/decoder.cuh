// The values of a packed matrix on a GPU: what is stored of them, and what that stands for.
#pragma once

#include <type_traits>

#include "nonzero/core/loads.cuh"
#include "nonzero/formats/packed/packed.hpp"

namespace nz {
namespace {

/// Type in which a value is stored; of a constant nothing is, and 0 stands for it.
template <value_encoding C, class V>
using stored_value = std::conditional_t<
    C == value_encoding::dictionary8, std::uint8_t,
    std::conditional_t<C == value_encoding::dictionary16, std::uint16_t,
                       std::conditional_t<C == value_encoding::float32, float, V>>>;

/// Whether padding stands for zero, and not for a value of a table.
template <value_encoding C>
constexpr bool padding_is_zero = C >= value_encoding::float32;

/// The value that `stored` stands for.
template <value_encoding C, class V>
__device__ V decoded(stored_value<C, V> stored, const V* __restrict__ table) {
    if constexpr (padding_is_zero<C>) return V(stored);
    if constexpr (!padding_is_zero<C>) return __ldg(table + std::size_t(stored));
}

/// The value of a stored place. One value is held in a register.
template <value_encoding C, bool streams, class V>
struct device_decoder {
    static constexpr bool bypasses_l1 = streams;
    static constexpr bool adds_padding = padding_is_zero<C>;
    const std::byte* __restrict__ val;
    const V* __restrict__ table;
    V constant;
    __device__ device_decoder(const packed<V, device_view>& A)
        : val(A.val.ptr),
          table(A.table.ptr),
          constant(C == value_encoding::constant ? table[0] : 0) {}

    __device__ V operator[](std::size_t at) const {
        if constexpr (C == value_encoding::constant) return constant;
        const auto* const stored = reinterpret_cast<const stored_value<C, V>*>(val) + at;
        if constexpr (C == value_encoding::dictionary8) return decoded<C>(__ldg(stored), table);
        return decoded<C>(load<streams>(stored), table);
    }
};

}  // namespace
}  // namespace nz
