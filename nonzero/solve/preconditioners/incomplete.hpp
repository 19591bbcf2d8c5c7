// The factors of ilu and ic, before anything is solved with them.
#pragma once

#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/triangular.hpp"

namespace nz {

/// A = lower upper on the pattern of both. Throws as ilu.
template <class V>
struct lu_factors {
    triangle<V> lower, upper;
};
template <class V>
lu_factors<V> ilu_factors(cpu on, const ascending<V>& A, const ilu_options&, index first_row,
                          factor_report&);

/// A, with what is added to its diagonal, = L L^H on the pattern of L. Throws as ic.
template <class V>
triangle<V> ic_factor(cpu on, const ascending<V>& A, const ic_options&, index first_row,
                      factor_report&);

}  // namespace nz
