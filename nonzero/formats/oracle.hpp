// The reference that every product is held against: long double, with the bound it must keep.
#pragma once

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// y = alpha op(A) x + beta y0 in long double, and how far a product in V may be from it:
/// |y - y*| <= gamma_n (|alpha| |op(A)| |x| + |beta| |y0|), for every order of summation, with
/// n = k + 3 for a sum of k products (2 k + 6 real ones for complex values), taken apart for real
/// and imaginary parts. Source: Higham, Accuracy and Stability (2002), section 3.1.
struct reference {
    std::vector<std::complex<long double>> y;
    std::vector<std::complex<long double>> bound;  ///< bounds on the real and on the imaginary part
};

/// y0 may be empty where beta is 0. Lengths are checked: argument_error.
template <class V>
reference reference_product(transposition op, V alpha, const csr<V, host_view>& A,
                            std::span<const V> x, V beta, std::span<const V> y0);

/// How a computed y stands against the reference.
struct agreement {
    double l2 = 0;        ///< norm of y - y*
    double worst = 0;     ///< largest |y_i - y*_i| / bound_i; at most 1 where the bound holds
    std::size_t row = 0;  ///< the row where that is
    [[nodiscard]] bool holds() const { return worst <= 1; }
};
template <class V>
agreement compare(std::span<const V> y, const reference&);

}  // namespace nz
