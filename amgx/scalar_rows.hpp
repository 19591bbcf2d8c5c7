// An uploaded matrix in blocks as a CSR of its values.
#pragma once

#include <complex>

#include "amgx/objects.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz::amgx {

/// This rank's rows; columns numbered as in the whole matrix. Diagonal blocks that are apart are
/// the last of their rows. V: double, or its complex numbers.
template <class V>
csr<V, host> scalar_rows(const matrix& A);
/// The same of a matrix that is held on the GPU, below 2^31 entries; waits for nothing.
csr<double, device> scalar_rows(gpu on, const matrix& A);

/// The k-th of these values of a mode's matrix, or vector.
template <class V>
V value_at(std::span<const std::byte> values, bool single, std::size_t k) {
    using narrow = std::conditional_t<is_complex<V>, std::complex<float>, float>;
    if (single) return V(reinterpret_cast<const narrow*>(values.data())[k]);
    return reinterpret_cast<const V*>(values.data())[k];
}
template <class V>
void set_value(std::span<std::byte> values, bool single, std::size_t k, V v) {
    using narrow = std::conditional_t<is_complex<V>, std::complex<float>, float>;
    if (single)
        reinterpret_cast<narrow*>(values.data())[k] = narrow(v);
    else
        reinterpret_cast<V*>(values.data())[k] = v;
}

}  // namespace nz::amgx
