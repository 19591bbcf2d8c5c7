// The one way to a method's builder: its matrix is known to be one, in the order that it reads.
#pragma once

#include "nonzero/formats/registry.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {

/// The operator of the method, which must exist on that backend. Throws argument_error where the
/// layout declines, device_error and std::bad_alloc where the memory does not suffice. known: of
/// A.view().
template <class V, class M, class B>
std::unique_ptr<linear_operator<V, B>> build(const method<V>& m, B on, const ascending<V, M>& A,
                                             const packed_analysis<V>* known = nullptr) {
    const auto& matrix = m.any_order ? A.given() : A.view();
    if constexpr (std::is_same_v<M, gpu>) {
        return m.from_device(on, matrix, known);
    } else {
        return m.template on<B>()(on, matrix);
    }
}
/// The same of any CSR. Throws as order_of, too.
template <class V, class B>
std::unique_ptr<linear_operator<V, B>> build(const method<V>& m, B on, const csr<V, host_view>& A) {
    return build(m, on, ascending(A));
}
template <class V>
std::unique_ptr<linear_operator<V, gpu>> build(const method<V>& m, gpu on,
                                               const csr<V, device_view>& A) {
    return build(m, on, ascending(A, on));
}

}  // namespace nz
