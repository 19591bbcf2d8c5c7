// Stats of a CSR on the GPU in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/plan/stats.hpp"

namespace nz {

template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>&, device_analysis<V>*) {
    require_gpu(on);
    return {};
}
template matrix_stats compute_stats(gpu, const csr<float, device_view>&, device_analysis<float>*);
template matrix_stats compute_stats(gpu, const csr<double, device_view>&, device_analysis<double>*);

}  // namespace nz
