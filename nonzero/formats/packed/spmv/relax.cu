// The relaxation of one vector by packed.warp's product on a GPU.
#include "nonzero/formats/packed/spmv/kernels.cuh"

namespace nz {

template <class V>
void relax_vector(gpu on, const typename linear_operator<V, gpu>::relaxation& how,
                  const packed<V, device_view>& A, device_span<V> x, device_out<V> y) {
    multiply_packed(on, A, x, y, relaxed_row<V>(how, x.data()));
}

template void relax_vector(gpu, const linear_operator<float, gpu>::relaxation&,
                           const packed<float, device_view>&, device_span<float>,
                           device_out<float>);
template void relax_vector(gpu, const linear_operator<double, gpu>::relaxation&,
                           const packed<double, device_view>&, device_span<double>,
                           device_out<double>);

}  // namespace nz
