#include "nonzero/formats/hyb/hyb_host_tail.hpp"

#include "nonzero/core/gpu.hpp"

namespace nz {

template <class V>
void spmv(gpu on, hyb_host_tail_trip, V alpha, const hyb_host_tail<V, device_view>& A,
          device_span<V> x, V beta, device_out<V> y) {
    spmv(on, ell_row{}, alpha, A.ell, x, beta, y);
    if (A.tail.val.empty()) return;
    const host_vector<V> x_here = to_host(on, x);
    host_vector<V> y_here = to_host(on, device_span<V>(y));
    spmv(cpu{1}, coo_serial{}, alpha, A.tail, std::span<const V>(x_here), V(1),
         std::span<V>(y_here));
    copy_to_device(on, y_here.data(), y.data(), y_here.size() * sizeof(V));
}

#define NZ_INSTANTIATE(V)                                                                \
    template void spmv(gpu, hyb_host_tail_trip, V, const hyb_host_tail<V, device_view>&, \
                       device_span<V>, V, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
