// Stats computed on a GPU, in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/plan/subject.hpp"

namespace nz {

template <class V>
subject<V, gpu> looked_at(gpu on, const ascending<V, gpu>& A) {
    require_gpu(on);
    return {A};
}
template <class V>
subject<V, gpu> looked_at(gpu on, const csr<V, device_view>& A) {
    return looked_at(on, ascending<V, gpu>::known(A));
}
template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}

#define NZ_INSTANTIATE(V)                                                \
    template subject<V, gpu> looked_at(gpu, const ascending<V, gpu>&);   \
    template subject<V, gpu> looked_at(gpu, const csr<V, device_view>&); \
    template matrix_stats compute_stats(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
