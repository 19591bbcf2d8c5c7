// Transposes: A^T of a CSR, in the CPU's memory or a GPU's.
#pragma once

#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/matrix/ascending.hpp"
#include "nonzero/matrix/order.hpp"

namespace nz {

/// A^T of a CSR in GPU memory that is known to be one, made there by a stable sort: the same bits
/// as on the CPU (formats/csr/csr.hpp). Throws device_error where the memory does not suffice (20
/// bytes an entry of scratch, 32 beyond 2^32 of them), unavailable without CUDA.
template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>& A);
template <class V, class B>
ascending<V, B> transposed(B on, const ascending<V, B>& A) {
    auto T = transposed(on, A.given());
    return A.given_in_order() ? ascending<V, B>::known(std::move(T), on)
                              : ascending<V, B>(std::move(T), on);  // with duplicates, maybe
}

/// The values of A^H into T, which `adjoint` made of a matrix of A's pattern, its rows ascending.
template <class V>
void adjoint_values(cpu on, const csr<V, host_view>& A, csr<V, host>& T);
template <class V>
void adjoint_values(gpu on, const csr<V, device_view>& A, csr<V, device>& T);

/// A^T of any CSR. Throws as order_of, and as `transposed`.
template <class V, class B>
auto transpose(B on, const csr<V, typename B::view>& A) {
    (void)order_of(on, A);
    return transposed(on, A);
}
template <class V>
csr<V, host> transpose(const csr<V, host_view>& A) {
    return transpose(cpu{}, A);
}

}  // namespace nz
