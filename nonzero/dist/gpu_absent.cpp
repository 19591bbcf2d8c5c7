// GPU functions of a rank's rows, in a build without CUDA.
#include "nonzero/core/gpu/absent.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/local_rows.hpp"

namespace nz {

template <class V>
host_vector<index> columns_outside(gpu on, const csr<V, device_view>&, range) {
    return absent<host_vector<index>>(on);
}
template <class V>
csr<V, device> numbered_locally(gpu on, const csr<V, device_view>&, const local_columns&) {
    return absent<csr<V, device>>(on);
}
template <class V>
void renumber_others(gpu on, csr<V, device>&, index, std::span<const index>, index) {
    require_gpu(on);
}

template <class V>
csr<V, device> own_columns(gpu on, const csr<V, device_view>&, index) {
    return absent<csr<V, device>>(on);
}
template <class V>
host_vector<index> edge_rows(gpu on, const csr<V, device_view>&, index) {
    return absent<host_vector<index>>(on);
}
template <class V>
csr<V, host> rows_at(gpu on, const csr<V, device_view>&, std::span<const index>) {
    return absent<csr<V, host>>(on);
}
template <class V>
csr<V, host> rows_from(gpu on, const csr<V, device_view>&, index) {
    return absent<csr<V, host>>(on);
}
template <class V>
csr<V, device_view> rows_before(gpu on, const csr<V, device_view>&, index) {
    return absent<csr<V, device_view>>(on);
}
template <class V>
csr<V, device> stacked(gpu on, const csr<V, device_view>&, const csr<V, device_view>&) {
    return absent<csr<V, device>>(on);
}
template <class T>
host_vector<T> elements_at(gpu on, device_span<T>, std::span<const index>, std::size_t) {
    return absent<host_vector<T>>(on);
}

#define NZ_INSTANTIATE(V)                                                                         \
    template host_vector<index> columns_outside(gpu, const csr<V, device_view>&, range);          \
    template csr<V, device> numbered_locally(gpu, const csr<V, device_view>&,                     \
                                             const local_columns&);                               \
    template void renumber_others(gpu, csr<V, device>&, index, std::span<const index>, index);    \
    template csr<V, device> own_columns(gpu, const csr<V, device_view>&, index);                  \
    template host_vector<index> edge_rows(gpu, const csr<V, device_view>&, index);                \
    template csr<V, host> rows_at(gpu, const csr<V, device_view>&, std::span<const index>);       \
    template csr<V, host> rows_from(gpu, const csr<V, device_view>&, index);                      \
    template csr<V, device_view> rows_before(gpu, const csr<V, device_view>&, index);             \
    template csr<V, device> stacked(gpu, const csr<V, device_view>&, const csr<V, device_view>&); \
    template host_vector<V> elements_at(gpu, device_span<V>, std::span<const index>, std::size_t);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)
template host_vector<index> elements_at(gpu, device_span<index>, std::span<const index>,
                                        std::size_t);

}  // namespace nz
