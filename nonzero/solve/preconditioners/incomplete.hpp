// The factors of ilu, ic and fsai, before anything is solved with them.
#pragma once

#include "nonzero/solve/preconditioners/fsai.hpp"
#include "nonzero/solve/preconditioners/ic.hpp"
#include "nonzero/solve/preconditioners/ilu.hpp"
#include "nonzero/solve/preconditioners/triangular.hpp"

namespace nz {

/// L with ones on its diagonal, and U.
template <class V>
struct incomplete_lu {
    triangle<V> lower, upper;
};
/// A = L U on the pattern of both. Throws as ilu.
template <class V>
incomplete_lu<V> ilu_factors(cpu on, const ascending<V>& A, const incomplete_options&,
                             index first_row, factor_report&);

/// A, with what is added to its diagonal, = L L^H on the pattern of L. Throws as ic.
template <class V>
triangle<V> ic_factor(cpu on, const ascending<V>& A, const incomplete_options&, index first_row,
                      factor_report&);

/// G of fsai, whose throws it has.
template <class V>
csr<V, host> fsai_factor(cpu on, const ascending<V>& A, const incomplete_options& = {},
                         index first_row = 0);

}  // namespace nz
