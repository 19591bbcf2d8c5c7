// Random numbers that are functions of where they are used, not of who asked before: the same
// matrix for one seed, whatever the number of threads.
#pragma once

#include <cstdint>

#include "nonzero/core/space.hpp"
#include "nonzero/core/value.hpp"

namespace nz {

/// A bijection of 64-bit numbers that scatters neighbours.
/// Source: splitmix64 of Steele et al., OOPSLA'14, doi:10.1145/2660193.2660195.
constexpr std::uint64_t scatter_bits(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31);
}

/// The numbers of one row (or edge) under one seed, by their place k.
class counter {
  public:
    constexpr counter(std::uint64_t seed, std::uint64_t row)
        : key_(scatter_bits(scatter_bits(seed) ^ row)) {}
    [[nodiscard]] constexpr std::uint64_t bits(std::uint64_t k) const {
        return scatter_bits(key_ ^ (k * 0xd1342543de82ef95U));
    }
    /// Uniform in [0, 1).
    [[nodiscard]] constexpr double uniform(std::uint64_t k) const {
        return double(bits(k) >> 11) * 0x1p-53;
    }
    /// Uniform in 0 to n - 1.
    [[nodiscard]] constexpr index below(index n, std::uint64_t k) const {
        return index(uniform(k) * n);
    }
    /// Uniform in [-1, 1]; both parts of a complex number.
    template <class V>
    [[nodiscard]] constexpr V value(std::uint64_t k) const {
        const auto re = real<V>(2 * uniform(k) - 1);
        if constexpr (is_complex<V>) {
            return {re, real<V>(2 * uniform(~k) - 1)};
        } else {
            return re;
        }
    }

  private:
    std::uint64_t key_;
};

}  // namespace nz
