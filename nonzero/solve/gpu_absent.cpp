// GPU functions of the solvers, in a build without CUDA.
#include "nonzero/core/gpu/absent.hpp"
#include "nonzero/solve/krylov/loop.hpp"
#include "nonzero/solve/multigrid/prolongation.hpp"
#include "nonzero/solve/multigrid/pseudo_inverse.hpp"

namespace nz {

struct loop<gpu>::watch {};

loop<gpu>::loop(gpu on, std::function<void()>, loop_state* state, bool, int)
    : on_(on), state_(state) {
    require_gpu(on);
}
loop<gpu>::~loop() = default;
void loop<gpu>::run() { require_gpu(on_); }

aggregation<device> aggregate(gpu on, const strong_graph<device>&, int) {
    return absent<aggregation<device>>(on);
}
strong_graph<device> couplings_within(gpu on, const strong_graph<device>&, index) {
    return absent<strong_graph<device>>(on);
}
int suitable_distance(gpu on, const strong_graph<device>&) { return absent<int>(on); }
template <class V>
strong_graph<device> strong_couplings(gpu on, const csr<V, device_view>&, index, double,
                                      in<real<V>, gpu>) {
    return absent<strong_graph<device>>(on);
}
template <class V>
tentative<V, device> tentative_prolongation(gpu on, const aggregation<device>&, index,
                                            const candidates<V, device>&) {
    return absent<tentative<V, device>>(on);
}
template <class V>
device_array<V> phases(gpu on, const csr<V, device_view>&, const aggregation<device>&) {
    return absent<device_array<V>>(on);
}
template <class V>
csr<V, device> smoothed_prolongation(gpu on, const csr<V, device_view>&, index,
                                     const strong_graph<device>&, double,
                                     const aggregation<device>&, const candidates<V, device>&) {
    return absent<csr<V, device>>(on);
}

template <class V>
csr<V, device> regular_inverse(gpu on, const csr<V, device_view>&) {
    return absent<csr<V, device>>(on);
}
template <class V>
void smoothed_values(gpu on, const csr<V, device_view>&, index, const device_array<char>&, double,
                     const aggregation<device>&, const candidates<V, device>&, in<real<V>, gpu>,
                     csr<V, device>&) {
    require_gpu(on);
}

#define NZ_INSTANTIATE(V)                                                                          \
    template strong_graph<device> strong_couplings(gpu, const csr<V, device_view>&, index, double, \
                                                   in<real<V>, gpu>);                              \
    template tentative<V, device> tentative_prolongation(gpu, const aggregation<device>&, index,   \
                                                         const candidates<V, device>&);            \
    template device_array<V> phases(gpu, const csr<V, device_view>&, const aggregation<device>&);  \
    template csr<V, device> regular_inverse(gpu, const csr<V, device_view>&);                      \
    template csr<V, device> smoothed_prolongation(                                                 \
        gpu, const csr<V, device_view>&, index, const strong_graph<device>&, double,               \
        const aggregation<device>&, const candidates<V, device>&);                                 \
    template void smoothed_values(gpu, const csr<V, device_view>&, index,                          \
                                  const device_array<char>&, double, const aggregation<device>&,   \
                                  const candidates<V, device>&, in<real<V>, gpu>,                  \
                                  csr<V, device>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
