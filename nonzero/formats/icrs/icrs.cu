#include "nonzero/formats/icrs/icrs.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

/// Padding is never read: a row says how many entries it has.
template <bool streams, class V, class Gather>
__global__ void row_kernel(icrs<V, device_view> A, V alpha, Gather x, V beta, V* __restrict__ y) {
    const unsigned i = row_of_thread();
    if (i >= unsigned(A.shape.rows)) return;
    const V sum = sum_strided<streams, 8>(A.col_ind.ptr, A.val.ptr, A.row_start[i],
                                          offset(A.interleave), A.row_count[i], x);
    store_scaled(y + i, alpha, sum, beta);
}

template <class V, class Gather>
void launch_rows(gpu on, V alpha, const icrs<V, device_view>& A, Gather x, V beta,
                 device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.len), [&]<bool streams>() {
        launch_gathering<Gather, row_kernel<streams, V, Gather>>(
            on, blocks_for(A.shape.rows, panel_threads), panel_threads, A, alpha, x, beta,
            y.data());
    });
}

}  // namespace

template <class V>
void spmv(gpu on, icrs_row, V alpha, const icrs<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch_rows(on, alpha, A, plain_gather<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, icrs_row_32, V alpha, const icrs<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch_rows(on, alpha, A, plain_gather<V>{x.data()}, beta, y);
}

template <class V>
void spmv(gpu on, icrs_row_texture, V alpha, const icrs<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch_rows(on, alpha, A, gather_by_texture(on, x), beta, y);
}

template <class V>
void spmv(gpu on, icrs_row_texture_32, V alpha, const icrs<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch_rows(on, alpha, A, gather_by_texture(on, x), beta, y);
}

#define NZ_KERNEL(V, K) \
    template void spmv(gpu, K, V, const icrs<V, device_view>&, device_span<V>, V, device_out<V>);
#define NZ_INSTANTIATE(V)          \
    NZ_KERNEL(V, icrs_row)         \
    NZ_KERNEL(V, icrs_row_32)      \
    NZ_KERNEL(V, icrs_row_texture) \
    NZ_KERNEL(V, icrs_row_texture_32)
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
