// Costs of a factorization before any of it is spent, and who makes it.
#pragma once

#include <cstdint>
#include <string_view>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// Costs of a factorization, by the symbolic one. Of Eigen's by the structure of A + A^T, pivots on
/// the diagonal; pivots off it may add to that. Of other libraries by their own analysis; of
/// umfpack by the lower one of both, as its own is a bound from above.
struct factor_forecast {
    /// The library that factorizes. eigen is part of nonzero and gives the same bits on every
    /// machine of a kind. The others are looked for at run time: cholmod takes symmetric
    /// (hermitian) positive definite matrices alone, umfpack, pardiso and klu any; their bits may
    /// change with their version and their BLAS, which klu does without. automatic: cholmod where A
    /// may suit it, else pardiso, umfpack, eigen: the first that is there.
    enum class libraries { eigen, cholmod, umfpack, pardiso, klu, automatic };

    std::int64_t entries = 0;  ///< of all factors
    double operations = 0;     ///< multiplications and additions
    double bytes = 0;          ///< of the factors
    double seconds = 0;        ///< on one core, at the rates that forecast.cpp states
    bool is_complete = true;   ///< false: more entries than may be, or none were counted
    libraries library = libraries::eigen;
    bool is_cholesky = false;  ///< A = L L^H is tried, half of the work of A = L U
};
/// Its name, as `nz solve` has it.
std::string_view name_of(factor_forecast::libraries);

}  // namespace nz
