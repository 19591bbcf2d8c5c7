// Rounding values in GPU memory in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/plan/storage/storage.hpp"

namespace nz {

template <class V>
device_array<V> stored_values(gpu on, device_span<V>, value_storage how) {
    if (how != value_storage::exact) require_gpu(on);
    return {};
}

#define NZ_INSTANTIATE(V) \
    template device_array<V> stored_values(gpu, device_span<V>, value_storage);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
