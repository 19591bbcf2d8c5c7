// Bytes and seconds of a factorization whose entries and operations are known.
#pragma once

#include "nonzero/core/value.hpp"
#include "nonzero/solve/direct/factor_forecast.hpp"

namespace nz {

/// An entry of the factors: its row number, and its value in double.
template <class V>
inline constexpr double bytes_an_entry = is_complex<V> ? 20 : 12;

/// Of the order of the times in docs/decisions/dependencies.md, not fitted to them.
template <class V>
void set_costs(factor_forecast& f) {
    constexpr double rate = 1e9, seconds_an_entry = 2e-8;
    constexpr double arithmetic = is_complex<V> ? 4 : 1;
    f.bytes = double(f.entries) * bytes_an_entry<V>;
    f.seconds = arithmetic * f.operations / rate + double(f.entries) * seconds_an_entry;
}

}  // namespace nz
