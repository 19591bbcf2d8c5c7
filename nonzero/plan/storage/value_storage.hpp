// The precision in which a plan stores its matrix, and how far its products may then be from A x.
#pragma once

#include <string_view>

#include "nonzero/core/cpp20.hpp"

namespace nz {

/// The precision in which a plan stores the values of its matrix. Products are summed in V all the
/// same, and every method multiplies the same stored values. Nothing but `exact` is ever taken
/// unasked.
enum class value_storage {
    exact,   ///< bit for bit
    single,  ///< a double rounded to the nearest float, ties to even; a float as it is
};
/// "exact" or "single".
std::string_view name_of(value_storage);

/// Error bound of a product with finite x, entry by entry, unless it overflows or underflows in V:
/// |y - A x| <= relative |A| |x| + absolute P |x|, where P has a one for each entry of A below
/// `smallest` in magnitude. An entry that is stored twice counts twice, in |A| and in P.
struct storage_bound {
    double unit_roundoff = 0;  ///< relative error of a stored value
    double relative = 0;       ///< with V's own rounding in the longest row
    double absolute = 0;       ///< error of a stored value below `smallest`; 0: V's own range holds
    double smallest = 0;       ///< magnitude from which on a value keeps unit_roundoff
};

}  // namespace nz
