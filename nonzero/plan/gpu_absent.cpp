// Looking at a matrix, rounding its values and measuring a machine on a GPU, in a build without
// CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/plan/gpu_machine.hpp"
#include "nonzero/plan/stats.hpp"
#include "nonzero/plan/storage/storage.hpp"
#include "nonzero/plan/subject.hpp"

namespace nz {

gpu_info describe_gpu(gpu on) {
    require_gpu(on);
    return {};
}
gpu_speeds measure_gpu(gpu on) {
    require_gpu(on);
    return {};
}

template <class V>
subject<V, gpu> looked_at(gpu on, const ascending<V, gpu>& A, work_ahead,
                          std::shared_ptr<const packed_analysis<V>>) {
    require_gpu(on);
    return {A};
}
template <class V>
subject<V, gpu> looked_at(gpu on, const csr<V, device_view>& A, work_ahead ahead) {
    return looked_at(on, ascending<V, gpu>::known(A), ahead);
}
template <class V>
matrix_stats compute_stats(gpu on, const csr<V, device_view>&) {
    require_gpu(on);
    return {};
}

template <class V>
device_array<V> stored_values(gpu on, device_span<V>, value_storage how) {
    if (how != value_storage::exact) require_gpu(on);
    return {};
}

#define NZ_INSTANTIATE(V)                                                            \
    template subject<V, gpu> looked_at(gpu, const ascending<V, gpu>&, work_ahead,    \
                                       std::shared_ptr<const packed_analysis<V>>);   \
    template subject<V, gpu> looked_at(gpu, const csr<V, device_view>&, work_ahead); \
    template matrix_stats compute_stats(gpu, const csr<V, device_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

#define NZ_INSTANTIATE_STORED(V) \
    template device_array<V> stored_values(gpu, device_span<V>, value_storage);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE_STORED)

}  // namespace nz
