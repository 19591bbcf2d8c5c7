// nonzero/dist/numbering.hpp in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/stream.hpp"
#include "nonzero/dist/numbering.hpp"

namespace nz {

template <class V>
host_vector<index> columns_outside(gpu on, const csr<V, device_view>&, range) {
    require_gpu(on);
    return {};
}
template <class V>
csr<V, device> numbered_locally(gpu on, const csr<V, device_view>&, const local_columns&) {
    require_gpu(on);
    return {};
}
template <class V>
void renumber_others(gpu on, csr<V, device>&, index, std::span<const index>, index) {
    require_gpu(on);
}

#define NZ_INSTANTIATE(V)                                                                \
    template host_vector<index> columns_outside(gpu, const csr<V, device_view>&, range); \
    template csr<V, device> numbered_locally(gpu, const csr<V, device_view>&,            \
                                             const local_columns&);                      \
    template void renumber_others(gpu, csr<V, device>&, index, std::span<const index>, index);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
