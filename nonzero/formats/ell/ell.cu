#include "nonzero/formats/ell/ell.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

template <bool streams, class V>
__global__ void row_kernel(ell<V, device_view> A, V alpha, plain_gather<V> x, V beta,
                           V* __restrict__ y) {
    const unsigned i = row_of_thread();
    if (i >= unsigned(A.shape.rows)) return;
    const V sum = sum_strided<streams>(A.col_ind.ptr, A.val.ptr, i, A.pitch, A.width, x);
    store_scaled(y + i, alpha, sum, beta);
}

}  // namespace

template <class V>
void spmv(gpu on, ell_row, V alpha, const ell<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch<row_kernel<streams, V>>(on, blocks_for(A.shape.rows, panel_threads), panel_threads,
                                       A, alpha, plain_gather<V>{x.data()}, beta, y.data());
    });
}

#define NZ_INSTANTIATE(V)                                                              \
    template void spmv(gpu, ell_row, V, const ell<V, device_view>&, device_span<V>, V, \
                       device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
