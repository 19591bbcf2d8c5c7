// The value types, listed once.
#pragma once

#include <complex>

/// The one list of value types: X(V) for each.
#define NZ_FOR_EACH_VALUE(X) X(float) X(double) X(std::complex<float>) X(std::complex<double>)

#include "nonzero/core/cpp20.hpp"

namespace nz {

template <class V>
inline constexpr bool is_complex = false;
template <class R>
inline constexpr bool is_complex<std::complex<R>> = true;

/// The real type behind V: R for R and for complex<R>.
template <class V>
using real = decltype(std::real(V()));

/// Operation on A before the product.
enum class transposition { plain, transpose, conjugate_transpose };

}  // namespace nz
