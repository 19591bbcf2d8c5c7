// Random vectors, the same on every machine and over any number of ranks.
#pragma once

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/backend.hpp"
#include "nonzero/core/communicator.hpp"
#include "nonzero/core/space.hpp"
#include "nonzero/gen/counter.hpp"

namespace nz {

/// These elements of a vector of numbers in [-1, 1]; others for every `seed`.
template <class V>
host_vector<V> noise(range elements, std::uint64_t seed) {
    host_vector<V> v(static_cast<std::size_t>(elements.last - elements.first));
    for (std::int64_t i = elements.first; i < elements.last; ++i) {
        const std::uint64_t h =
            scatter_bits(std::uint64_t(std::uint32_t(seed + 1)) << 32 | std::uint32_t(i));
        v[std::size_t(i - elements.first)] = V(real<V>(double(std::uint32_t(h)) * 0x1p-31 - 1));
    }
    return v;
}

/// Which elements of all ranks' vectors this one has.
inline range own_elements(const communicator* ranks, std::int64_t n) {
    if (ranks == nullptr) return {0, n};
    const auto all = gathered(*ranks, n);
    std::int64_t first = 0;
    for (int r = 0; r < ranks->rank(); ++r) first += all[std::size_t(r)];
    return {first, first + n};
}

}  // namespace nz
