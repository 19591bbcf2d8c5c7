// Packing on the GPU in a build without CUDA.
#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed/packed.hpp"
#include "nonzero/formats/packed/spmv/striped_segments.hpp"
#include "nonzero/formats/packed/spmv/stripes.hpp"

namespace nz {

template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_for_packing(
    gpu on, const csr<V, device_view>&, const std::function<void()>&,
    std::shared_ptr<const packed_analysis<V>>) {
    require_gpu(on);
    return nullptr;
}
template <class V>
std::shared_ptr<const packed_analysis<V>> analyse_part(gpu on, const csr<V, device_view>&,
                                                       const packed_options&,
                                                       const packed_analysis<V>&) {
    require_gpu(on);
    return nullptr;
}
template <class V>
matrix_stats::packed_size size_of_packed(const packed_analysis<V>&) {
    return {};
}
template <class V>
packed<V, device> pack(gpu on, const packed_analysis<V>&) {
    require_gpu(on);
    return {};
}
template <class V>
void pack_ahead(gpu on, const packed_analysis<V>&) {
    require_gpu(on);
}
template <class V>
bool refill(gpu on, const csr<V, device_view>&, packed<V, device>&) {
    require_gpu(on);
    return false;
}
template <class V>
csr<V, device> columns_between(gpu on, const csr<V, device_view>&, index, index) {
    require_gpu(on);
    return {};
}
template <class V>
row_segments<V> cut_by_stripes(gpu on, const csr<V, device_view>&, const segment_options&,
                               const packed_analysis<V>*) {
    require_gpu(on);
    return {};
}
template <class V>
csr<V, device> whole_rows(gpu on, const csr<V, device_view>&, const row_segments<V>&) {
    require_gpu(on);
    return {};
}
template <class V>
void multiply_segments(gpu on, V, const row_segments<V>&, device_span<V>, V, device_out<V>) {
    require_gpu(on);
}
#define NZ_INSTANTIATE(V)                                                                        \
    template std::shared_ptr<const packed_analysis<V>> analyse_for_packing(                      \
        gpu, const csr<V, device_view>&, const std::function<void()>&,                           \
        std::shared_ptr<const packed_analysis<V>>);                                              \
    template std::shared_ptr<const packed_analysis<V>> analyse_part(                             \
        gpu, const csr<V, device_view>&, const packed_options&, const packed_analysis<V>&);      \
    template matrix_stats::packed_size size_of_packed(const packed_analysis<V>&);                \
    template packed<V, device> pack(gpu, const packed_analysis<V>&);                             \
    template void pack_ahead(gpu, const packed_analysis<V>&);                                    \
    template bool refill(gpu, const csr<V, device_view>&, packed<V, device>&);                   \
    template csr<V, device> columns_between(gpu, const csr<V, device_view>&, index, index);      \
    template row_segments<V> cut_by_stripes(gpu, const csr<V, device_view>&,                     \
                                            const segment_options&, const packed_analysis<V>*);  \
    template csr<V, device> whole_rows(gpu, const csr<V, device_view>&, const row_segments<V>&); \
    template void multiply_segments(gpu, V, const row_segments<V>&, device_span<V>, V,           \
                                    device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
