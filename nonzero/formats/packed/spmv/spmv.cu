// The product of packed.warp on a GPU.
#include "nonzero/formats/packed/spmv/kernels.cuh"

namespace nz {

template <class V>
void spmv(gpu on, packed_warp, V alpha, const packed<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    multiply_packed(on, A, x, y, scaled_row<V>{alpha, beta});
}

template void spmv(gpu, packed_warp, float, const packed<float, device_view>&, device_span<float>,
                   float, device_out<float>);
template void spmv(gpu, packed_warp, double, const packed<double, device_view>&,
                   device_span<double>, double, device_out<double>);

}  // namespace nz
