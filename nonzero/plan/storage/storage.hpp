// The values of a matrix as a plan stores them.
#pragma once

#include "nonzero/formats/csr/csr.hpp"
#include "nonzero/plan/storage/value_storage.hpp"

namespace nz {

/// All of them, in the order of the enum.
inline constexpr value_storage value_storages[] = {value_storage::exact, value_storage::single};

/// The one of that name. Throws argument_error where there is none.
value_storage storage_named(std::string_view name);

/// The bound of a matrix with such rows.
template <class V>
storage_bound bound_of(value_storage, std::int64_t longest_row);

/// The values as they are stored; empty where that changes none. An infinity and a NaN stay what
/// they are. By all threads; on a GPU by the GPU, which it waits for. Throws argument_error for
/// complex values unless `exact`, and where a value would overflow; device_error where the memory
/// does not suffice.
template <class V>
host_vector<V> stored_values(cpu on, std::span<const V> values, value_storage);
template <class V>
device_array<V> stored_values(gpu on, device_span<V> values, value_storage);
/// Of a matrix on the host that a GPU is to multiply.
template <class V>
host_vector<V> stored_values(gpu, std::span<const V> values, value_storage how) {
    return stored_values(cpu{}, values, how);
}

/// A with its values as they are stored. Its pattern stays where it is, as do values that stay.
template <class V, class S>
struct stored_matrix {
    template <class B>
    stored_matrix(B on, const csr<V, S>& A, value_storage how)
        : rounded(stored_values(on, A.val, how)), view(A) {
        if (rounded.size() > 0) view.val = rounded;
    }
    stored_matrix(const stored_matrix&) = delete;
    stored_matrix& operator=(const stored_matrix&) = delete;

    array<V, std::conditional_t<std::is_same_v<S, host_view>, host, device>> rounded;
    csr<V, S> view;
};

}  // namespace nz
