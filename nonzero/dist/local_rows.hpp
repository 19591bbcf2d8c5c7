// A rank's rows, their columns numbered for the rank itself, as multigrid's setup takes them apart
// and puts them together, on either backend.
#pragma once

#include "nonzero/dist/numbering.hpp"
#include "nonzero/vector/vectors.hpp"

namespace nz {

/// The columns before `own`: the square block where A's rows are numbered locally.
template <class V>
csr<V, host> own_columns(cpu on, const csr<V, host_view>& A, index own);
/// The columns from `own` on, numbered from there.
template <class V>
csr<V, host> other_columns(cpu on, const csr<V, host_view>& A, index own);
/// The rows that have a column from `own` on.
template <class V>
host_vector<index> edge_rows(cpu on, const csr<V, host_view>& A, index own);
/// Those rows of A, in that order.
template <class V>
csr<V, host> rows_at(cpu on, const csr<V, host_view>& A, std::span<const index> rows);
/// The rows of A from `first` on.
template <class V>
csr<V, host> rows_from(cpu on, const csr<V, host_view>& A, index first);
/// The rows of A before `last`, borrowed.
template <class V>
csr<V, host_view> rows_before(cpu on, const csr<V, host_view>& A, index last);
/// A above B, of as many columns.
template <class V>
csr<V, host> stacked(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B);
/// `width` numbers for each of those places.
template <class T>
host_vector<T> elements_at(cpu on, std::span<const T> v, std::span<const index> places,
                           std::size_t width = 1);

/// The same of what lies on a GPU, in on.stream; rows and elements that are few come to the host.
/// Values are float or double.
template <class V>
csr<V, device> own_columns(gpu on, const csr<V, device_view>& A, index own);
template <class V>
host_vector<index> edge_rows(gpu on, const csr<V, device_view>& A, index own);
template <class V>
csr<V, host> rows_at(gpu on, const csr<V, device_view>& A, std::span<const index> rows);
template <class V>
csr<V, host> rows_from(gpu on, const csr<V, device_view>& A, index first);
template <class V>
csr<V, device_view> rows_before(gpu on, const csr<V, device_view>& A, index last);
template <class V>
csr<V, device> stacked(gpu on, const csr<V, device_view>& A, const csr<V, device_view>& B);
template <class T>
host_vector<T> elements_at(gpu on, device_span<T> v, std::span<const index> places,
                           std::size_t width = 1);

/// v with the host's numbers behind.
template <class T>
host_vector<T> extended(cpu, std::span<const T> v, std::span<const T> more) {
    host_vector<T> all(v.begin(), v.end());
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
template <class T>
device_array<T> extended(gpu on, device_span<T> v, std::span<const T> more) {
    device_array<T> all(on, v.size() + more.size());
    copy_on_device(on, v.data(), all.data(), v.size() * sizeof(T));
    copy_to_device(on, more.data(), all.data() + v.size(), more.size_bytes());
    return all;
}

}  // namespace nz
