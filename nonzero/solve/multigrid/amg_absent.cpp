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

device_aggregation aggregate(gpu on, const marked_graph&, int) {
    return absent<device_aggregation>(on);
}
marked_graph couplings_within(gpu on, const marked_graph&, index) {
    return absent<marked_graph>(on);
}
int suitable_distance(gpu on, const marked_graph&) { return absent<int>(on); }
template <class V>
marked_graph strong_couplings(gpu on, const csr<V, device_view>&, index, double, in<V, gpu>) {
    return absent<marked_graph>(on);
}
template <class V>
device_tentative<V> tentative_prolongation(gpu on, const device_aggregation&, index,
                                           const device_candidates<V>&) {
    return absent<device_tentative<V>>(on);
}
template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>&, index, const marked_graph&,
                                     double, const device_aggregation&,
                                     const device_candidates<V>&) {
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

#define NZ_INSTANTIATE(V)                                                                       \
    template marked_graph strong_couplings(gpu, const csr<V, device_view>&, index, double,      \
                                           in<V, gpu>);                                         \
    template device_tentative<V> tentative_prolongation(gpu, const device_aggregation&, index,  \
                                                        const device_candidates<V>&);           \
    template csr<V, device> smoothed_prolongation(                                              \
        gpu, const csr<V, device_view>&, index, const marked_graph&, double,                    \
        const device_aggregation&, const device_candidates<V>&);                                \
    template csr<V, device> spgemm(gpu, const csr<V, device_view>&, const csr<V, device_view>&, \
                                   offset);                                                     \
    template csr<V, device> transposed(gpu, const csr<V, device_view>&);                        \
    template void require_positive(gpu, device_span<V>, std::int64_t);                          \
    template device_array<V> diagonal_of(gpu, const csr<V, device_view>&);                      \
    template device_array<V> l1_norms(gpu, const csr<V, device_view>&);                         \
    template double gershgorin_bound(gpu, device_span<V>, device_span<V>);                      \
    template void replace_zero_diagonal(gpu, csr<V, device>&);                                  \
    template void invert_each(gpu, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
