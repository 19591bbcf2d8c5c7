// Rounding of values: the part that the CPU and a GPU share.
#pragma once

#include <limits>

#include "nonzero/plan/storage/storage.hpp"

namespace nz {

/// Whether that storage changes values of type V at all.
template <class V>
constexpr bool rounds(value_storage s) {
    return s == value_storage::single && std::is_same_v<V, double>;
}

/// Index of the first value that overflows, where none does.
inline constexpr std::int64_t no_overflow = std::numeric_limits<std::int64_t>::max();

[[noreturn]] void refuse_overflow(std::int64_t at);
[[noreturn]] void refuse_complex();

}  // namespace nz
