// Packing on the GPU in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed.hpp"

namespace nz {

template <class V>
packed<V, device> pack(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}
template packed<float, device> pack(gpu, const csr<float, device_view>&);
template packed<double, device> pack(gpu, const csr<double, device_view>&);

}  // namespace nz
