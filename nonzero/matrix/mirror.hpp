// Entries that face each other across the diagonal, and what conjugate gradients need, as far as
// that can be seen at once: the one test of that, which reads values.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/matrix/symmetry.hpp"

namespace nz {

/// The symmetry that solvers of real or complex systems mean.
template <class V>
inline constexpr symmetry self_adjoint = is_complex<V> ? symmetry::hermitian : symmetry::symmetric;

/// Value of the entry across the diagonal of v.
template <class V>
V mirrored(symmetry s, V v) {
    if constexpr (is_complex<V>) {
        if (s == symmetry::hermitian) return std::conj(v);
    }
    return s == symmetry::skew_symmetric ? -v : v;
}

/// Two entries that face each other may differ by this much of the largest entry in the row of
/// each: what sums in another order do to the two halves of an assembled matrix is far below.
template <class V>
inline constexpr double symmetry_tolerance = std::is_same_v<real<V>, float> ? 1e-4 : 1e-10;

/// Whether v, or its real and its imaginary part, is a number and not infinite.
template <class V>
bool is_finite(V v) {
    return std::isfinite(std::real(v)) && std::isfinite(std::imag(v));
}

/// An entry and the one across the diagonal, 0 where none is stored. Counted from 0.
template <class V>
struct facing_entries {
    index row, col;
    V here, across;
};

/// Whether `here` is what mirrors `across`, up to a tolerance of `size`, the smaller one of their
/// rows' largest entries. A NaN mirrors a NaN, though not as its opposite.
template <class V>
bool mirror_each_other(symmetry s, V here, V across, double size,
                       double tolerance = symmetry_tolerance<V>) {
    const V image = mirrored(s, across);
    if (here == image) return true;
    if (here != here && image != image) return s != symmetry::skew_symmetric;
    return double(std::abs(here - image)) <= tolerance * size;
}

/// The largest finite magnitude in each row.
template <class V>
host_vector<real<V>> largest_of_rows(const csr<V, host_view>& A);

/// The first stored entry of a square A, by rows, that is not what mirrors the one across the
/// diagonal. An entry that is not stored is 0.
template <class V>
std::optional<facing_entries<V>> first_asymmetry(const ascending<V>& A, symmetry s,
                                                 double tolerance = symmetry_tolerance<V>);

/// The first stored entry, by rows, that is infinite or no number; what faces it is not looked up.
template <class V>
std::optional<facing_entries<V>> first_not_finite(const ascending<V>& A);

/// The first row of a square A on a GPU, its columns ascending, with an entry that is not finite
/// or, up to symmetry_tolerance, not what stands across the diagonal; -1 where there is none. Real
/// values. Waits for on.stream.
template <class V>
std::int64_t first_asymmetric_row(gpu on, const csr<V, device_view>& A);

/// As the functions of a matrix on the CPU, of a square one on a GPU, its columns ascending. Real
/// values. Wait for on.stream.
template <class V>
std::optional<facing_entries<V>> first_asymmetry(gpu on, const csr<V, device_view>& A);
template <class V>
std::optional<facing_entries<V>> first_not_finite(gpu on, const csr<V, device_view>& A);

/// Description of the fault in one sentence.
template <class V>
std::string text_of_not_finite(const facing_entries<V>& found);
template <class V>
std::string text_of_asymmetry(const facing_entries<V>& found);
/// Of a value on the diagonal that is not positive, in that row.
std::string text_of_diagonal(double value, std::int64_t row);

/// Empty where A is square and finite; else why not, in one sentence that names a place.
template <class V>
std::string why_not_finite(const ascending<V>& A);

/// Empty where A is square, finite and symmetric (hermitian) up to symmetry_tolerance, whatever its
/// diagonal; else why not, in one sentence that names a place.
template <class V>
std::string why_not_symmetric(const ascending<V>& A);

/// Empty where why_not_symmetric finds nothing and A's diagonal is positive; else why not, in one
/// sentence that names a place. Rows counted from 0. is_symmetric: whether why_not_symmetric finds
/// nothing, where it is not null.
template <class V>
std::string why_not_definite(const ascending<V>& A, bool* is_symmetric = nullptr);

/// The same of any CSR, duplicates summed. Throw as order_of.
template <class V>
std::optional<facing_entries<V>> first_asymmetry(const csr<V, host_view>& A, symmetry s,
                                                 double tolerance = symmetry_tolerance<V>) {
    return first_asymmetry(ascending(A), s, tolerance);
}
template <class V>
std::string why_not_symmetric(const csr<V, host_view>& A) {
    return why_not_symmetric(ascending(A));
}
template <class V>
std::string why_not_definite(const csr<V, host_view>& A) {
    return why_not_definite(ascending(A));
}

}  // namespace nz
