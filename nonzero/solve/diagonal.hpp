// What a matrix's rows are to themselves: diagonals, norms, and the bound of Gershgorin.
#pragma once

#include "nonzero/formats/csr.hpp"

namespace nz {

/// The diagonal of a square A; 0 where none is stored.
template <class V>
host_vector<V> diagonal_of(cpu on, const csr<V, host_view>& A);
template <class V>
device_array<V> diagonal_of(gpu on, const csr<V, device_view>& A);

/// The sum of the magnitudes of each row, in their order.
template <class V>
host_vector<V> l1_norms(cpu on, const csr<V, host_view>& A);
template <class V>
device_array<V> l1_norms(gpu on, const csr<V, device_view>& A);

/// The largest norm[i] / diagonal[i], which no eigenvalue of D^-1 A exceeds. Diagonals are
/// positive. The one on a GPU waits for on.stream.
template <class V>
double gershgorin_bound(cpu on, std::span<const V> diagonal, std::span<const V> norm);
template <class V>
double gershgorin_bound(gpu on, device_span<V> diagonal, device_span<V> norm);

/// v_i = 1 / v_i
template <class V>
void invert_each(cpu on, std::span<V> v);
template <class V>
void invert_each(gpu on, device_out<V> v);

}  // namespace nz
