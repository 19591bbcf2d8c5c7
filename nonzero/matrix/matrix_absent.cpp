// What is asked and made of a CSR on the GPU, in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

template <class V>
row_order order_of(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}
template <class V>
csr<V, device> canonical(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}
template <class V>
csr<V, device> transpose(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}
#define NZ_INSTANTIATE(V)                                               \
    template row_order order_of(gpu, const csr<V, device_view>&);       \
    template csr<V, device> canonical(gpu, const csr<V, device_view>&); \
    template csr<V, device> transpose(gpu, const csr<V, device_view>&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
