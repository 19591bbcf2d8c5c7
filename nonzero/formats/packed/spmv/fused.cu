// The product of packed.warp on a GPU with an update of y.
#include "nonzero/formats/packed/spmv/kernels.cuh"

namespace nz {

template <class V>
requires(!is_complex<V>) bool spmv_fused(
    gpu on, packed_warp, V alpha, const packed<V, device_view>& A, device_span<V> x, V beta,
    device_out<V> y, const typename linear_operator<V, gpu>::fused_update& with) {
    multiply_packed(on, A, x, y, fused_row<V>(alpha, beta, with));
    return true;
}

template bool spmv_fused(gpu, packed_warp, float, const packed<float, device_view>&,
                         device_span<float>, float, device_out<float>,
                         const linear_operator<float, gpu>::fused_update&);
template bool spmv_fused(gpu, packed_warp, double, const packed<double, device_view>&,
                         device_span<double>, double, device_out<double>,
                         const linear_operator<double, gpu>::fused_update&);

}  // namespace nz
