#include "nonzero/core/cuda.cuh"
#include "nonzero/formats/hyb/hyb.hpp"

namespace nz {

template <class V>
std::size_t hyb_device::scratch_bytes(gpu on, const hyb<V, device_view>& A) {
    return coo_segmented::scratch_bytes(on, A.coo);
}

template <class V>
void spmv(gpu on, hyb_device, V alpha, const hyb<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    spmv(on, ell_row{}, alpha, A.ell, x, beta, y);
    spmv(on, coo_segmented{}, alpha, A.coo, x, V(1), y);
}

#define NZ_INSTANTIATE(V)                                                                 \
    template std::size_t hyb_device::scratch_bytes(gpu, const hyb<V, device_view>&);      \
    template void spmv(gpu, hyb_device, V, const hyb<V, device_view>&, device_span<V>, V, \
                       device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
