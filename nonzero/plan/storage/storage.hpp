// In which precision a plan stores its matrix, and how far its products may then be from A x.
#pragma once

#include <string_view>

#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// How a plan stores the values of its matrix. Products are summed in V all the same, and every
/// method multiplies the same stored values. Nothing but `exact` is ever taken unasked.
enum class value_storage {
    exact,   ///< bit for bit
    single,  ///< a double rounded to the nearest float, ties to even; a float as it is
};
/// All of them, in the order of the enum.
inline constexpr value_storage value_storages[] = {value_storage::exact, value_storage::single};

/// "exact" or "single".
std::string_view name_of(value_storage);
/// The one of that name. Throws argument_error where there is none.
value_storage storage_named(std::string_view name);

/// Error bound of a product with finite x, entry by entry, unless it overflows or underflows in V:
/// |y - A x| <= relative |A| |x| + absolute P |x|, where P has a one for each entry of A below
/// `smallest` in magnitude. An entry that is stored twice counts twice, in |A| and in P.
struct storage_bound {
    double unit_roundoff = 0;  ///< relative error of a stored value
    double relative = 0;       ///< with V's own rounding in the longest row
    double absolute = 0;       ///< error of a stored value below `smallest`; 0: V's own range holds
    double smallest = 0;       ///< magnitude from which on a value keeps unit_roundoff
};
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
