// Costs of a factorization before any of it is spent.
#pragma once

#include <cstdint>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// Costs of a factorization, by the symbolic one: the structure of A + A^T, pivots on the
/// diagonal. Pivots off it may add to that.
struct factor_forecast {
    std::int64_t entries = 0;  ///< of both factors
    double operations = 0;     ///< multiplications and additions
    double bytes = 0;          ///< of the factors
    double seconds = 0;        ///< on one core, at the rates that forecast.cpp states
    bool is_complete = true;   ///< false: counting ended at the limit, and more would come
};

}  // namespace nz
