// Functions of a CSR on a GPU, in a build without CUDA.
#include "nonzero/core/gpu/absent.hpp"
#include "nonzero/matrix/diagonal.hpp"
#include "nonzero/matrix/mirror.hpp"
#include "nonzero/matrix/pattern.hpp"
#include "nonzero/matrix/spgemm.hpp"

namespace nz {

template <class V>
row_order order_of(gpu on, const csr<V, device_view>&) {
    return absent<row_order>(on);
}
template <class V>
csr<V, device> ordered_copy(gpu on, const csr<V, device_view>&) {
    return absent<csr<V, device>>(on);
}
template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>&) {
    return absent<csr<V, device>>(on);
}
#define NZ_INSTANTIATE(V)                                                  \
    template row_order order_of(gpu, const csr<V, device_view>&);          \
    template csr<V, device> ordered_copy(gpu, const csr<V, device_view>&); \
    template csr<V, device> transposed(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#undef NZ_INSTANTIATE

template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>&, const csr<V, device_view>&, offset) {
    return absent<csr<V, device>>(on);
}
std::uint64_t pattern_hash(gpu on, const device_offset_span&, device_span<index>) {
    return absent<std::uint64_t>(on);
}
template <class V>
std::int64_t first_asymmetric_row(gpu on, const csr<V, device_view>&) {
    return absent<std::int64_t>(on);
}
template <class V>
void galerkin_values(gpu on, const csr<V, device_view>&, const csr<V, device_view>&,
                     const csr<V, device_view>&, csr<V, device>&, csr<V, device>&) {
    require_gpu(on);
}
template <class V>
void adjoint_values(gpu on, const csr<V, device_view>&, csr<V, device>&) {
    require_gpu(on);
}
template <class V>
void require_positive(gpu on, device_span<V>, std::int64_t) {
    require_gpu(on);
}
template <class V>
device_array<V> diagonal_of(gpu on, const csr<V, device_view>&) {
    return absent<device_array<V>>(on);
}
template <class V>
device_array<real<V>> real_parts(gpu on, device_array<V>) {
    return absent<device_array<real<V>>>(on);
}
template <class V>
device_array<real<V>> l1_norms(gpu on, const csr<V, device_view>&) {
    return absent<device_array<real<V>>>(on);
}
template <class V>
double gershgorin_bound(gpu on, device_span<V>, device_span<V>) {
    return absent<double>(on);
}
template <class V>
void mend_diagonal(gpu on, const csr<V, device_view>&, device_span<real<V>>, index,
                   csr<V, device>&) {
    require_gpu(on);
}
template <class V>
void invert_each(gpu on, device_out<V>) {
    require_gpu(on);
}
#define NZ_INSTANTIATE(V)                                                                        \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&,  \
                                   offset);                                                      \
    template void galerkin_values(gpu, const csr<V, device_view>&, const csr<V, device_view>&,   \
                                  const csr<V, device_view>&, csr<V, device>&, csr<V, device>&); \
    template void adjoint_values(gpu, const csr<V, device_view>&, csr<V, device>&);              \
    template std::int64_t first_asymmetric_row(gpu, const csr<V, device_view>&);                 \
    template device_array<V> diagonal_of(gpu, const csr<V, device_view>&);                       \
    template device_array<real<V>> real_parts(gpu, device_array<V>);                             \
    template device_array<real<V>> l1_norms(gpu, const csr<V, device_view>&);                    \
    template void mend_diagonal(gpu, const csr<V, device_view>&, device_span<real<V>>, index,    \
                                csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
#undef NZ_INSTANTIATE
#define NZ_INSTANTIATE(V)                                                  \
    template void require_positive(gpu, device_span<V>, std::int64_t);     \
    template double gershgorin_bound(gpu, device_span<V>, device_span<V>); \
    template void invert_each(gpu, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
