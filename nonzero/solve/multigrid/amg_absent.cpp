// Multigrid's setup on a GPU in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/matrix/spgemm.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"

namespace nz {
namespace {
template <class T>
T absent(gpu on) {
    require_gpu(on);
    return T{};
}
}  // namespace

aggregation<device> aggregate(gpu on, const strong_graph<device>&, int) {
    return absent<aggregation<device>>(on);
}
strong_graph<device> couplings_within(gpu on, const strong_graph<device>&, index) {
    return absent<strong_graph<device>>(on);
}
int suitable_distance(gpu on, const strong_graph<device>&) { return absent<int>(on); }
template <class V>
strong_graph<device> strong_couplings(gpu on, const csr<V, device_view>&, index, double,
                                      in<V, gpu>) {
    return absent<strong_graph<device>>(on);
}
template <class V>
tentative<V, device> tentative_prolongation(gpu on, const aggregation<device>&, index,
                                            const candidates<V, device>&) {
    return absent<tentative<V, device>>(on);
}
template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>&, index,
                                     const strong_graph<device>&, double,
                                     const aggregation<device>&, const candidates<V, device>&) {
    return absent<csr<V, device>>(on);
}
template <class V>
csr<V, device> spgemm(gpu on, const csr<V, device_view>&, const csr<V, device_view>&, offset) {
    return absent<csr<V, device>>(on);
}
template <class V>
csr<V, device> transposed(gpu on, const csr<V, device_view>&) {
    return absent<csr<V, device>>(on);
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
device_array<V> l1_norms(gpu on, const csr<V, device_view>&) {
    return absent<device_array<V>>(on);
}
template <class V>
double gershgorin_bound(gpu on, device_span<V>, device_span<V>) {
    return absent<double>(on);
}
template <class V>
void replace_zero_diagonal(gpu on, csr<V, device>&) {
    require_gpu(on);
}
template <class V>
void invert_each(gpu on, device_out<V>) {
    require_gpu(on);
}

#define NZ_INSTANTIATE(V)                                                                          \
    template strong_graph<device> strong_couplings(gpu, const csr<V, device_view>&, index, double, \
                                                   in<V, gpu>);                                    \
    template tentative<V, device> tentative_prolongation(gpu, const aggregation<device>&, index,   \
                                                         const candidates<V, device>&);            \
    template csr<V, device> smoothed_prolongation(                                                 \
        gpu, const csr<V, device_view>&, index, const strong_graph<device>&, double,               \
        const aggregation<device>&, const candidates<V, device>&);                                 \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&,    \
                                   offset);                                                        \
    template csr<V, device> transposed(gpu, const csr<V, device_view>&);                           \
    template void require_positive(gpu, device_span<V>, std::int64_t);                             \
    template device_array<V> diagonal_of(gpu, const csr<V, device_view>&);                         \
    template device_array<V> l1_norms(gpu, const csr<V, device_view>&);                            \
    template double gershgorin_bound(gpu, device_span<V>, device_span<V>);                         \
    template void replace_zero_diagonal(gpu, csr<V, device>&);                                     \
    template void invert_each(gpu, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
