#include "nonzero/formats/dia/dia.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

template <bool streams, class V>
__global__ void row_kernel(dia<V, device_view> A, V alpha, const V* x, V beta, V* __restrict__ y) {
    x = wait_for_previous(x);
    const unsigned i = row_of_thread();
    if (i >= unsigned(A.shape.rows)) return;
    const offset word = i / warp_size, words = A.pitch / warp_size;
    const unsigned bit = 1U << (i % warp_size);
    const int diagonals = int(A.offsets.len);
    V sum = 0;
#pragma unroll 4
    for (int d = 0; d < diagonals; ++d)
        if (A.stored[d * words + word] & bit)  // one word a warp: a broadcast
            sum += load<streams>(A.diagonals.ptr + d * A.pitch + i) *
                   gather(x + index(i) + A.offsets[d]);
    store_scaled(y + i, alpha, sum, beta);
}

}  // namespace

template <class V>
void spmv(gpu on, dia_row, V alpha, const dia<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    with_loads(A.diagonals.len * sizeof(V), [&]<bool streams>() {
        launch<row_kernel<streams, V>>(on, blocks_for(A.shape.rows, panel_threads), panel_threads,
                                       A, alpha, x.data(), beta, y.data());
    });
}

#define NZ_INSTANTIATE(V)                                                              \
    template void spmv(gpu, dia_row, V, const dia<V, device_view>&, device_span<V>, V, \
                       device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
