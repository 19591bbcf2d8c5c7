#include "nonzero/formats/jds.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

template <class V>
__global__ void row_kernel(jds<V, device_view> A, V alpha, const V* __restrict__ x, V beta,
                           V* __restrict__ y) {
    const unsigned r = row_of_thread();
    if (r >= unsigned(A.shape.rows)) return;
    V sum = 0;
    const offset end = A.row_ptr[r + 1];
    for (offset k = A.row_ptr[r]; k < end; ++k) sum += A.val[k] * x[A.col_ind[k]];
    store_scaled(y + A.perm[r], alpha, sum, beta);
}

template <class V>
__global__ void transposed_kernel(jds_transposed<V, device_view> A, V alpha,
                                  const V* __restrict__ x, V beta, V* __restrict__ y) {
    const unsigned r = row_of_thread();
    if (r >= unsigned(A.shape.rows)) return;
    V sum = 0;
    const int diagonals = int(A.jd_ptr.len) - 1;
    for (int d = 0; d < diagonals; ++d) {
        const offset at = A.jd_ptr[d] + r;
        if (at >= A.jd_ptr[d + 1]) break;  // diagonals only get shorter
        sum += A.val[at] * x[A.col_ind[at]];
    }
    store_scaled(y + A.perm[r], alpha, sum, beta);
}

}  // namespace

template <class V>
void spmv(gpu on, jds_row, V alpha, const jds<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    row_kernel<<<blocks_for(A.shape.rows, panel_threads), panel_threads, 0, stream_of(on)>>>(
        A, alpha, x.data(), beta, y.data());
}

template <class V>
void spmv(gpu on, jds_diagonals, V alpha, const jds_transposed<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    transposed_kernel<<<blocks_for(A.shape.rows, panel_threads), panel_threads, 0, stream_of(on)>>>(
        A, alpha, x.data(), beta, y.data());
}

#define NZ_INSTANTIATE(V)                                                              \
    template void spmv(gpu, jds_row, V, const jds<V, device_view>&, device_span<V>, V, \
                       device_out<V>);                                                 \
    template void spmv(gpu, jds_diagonals, V, const jds_transposed<V, device_view>&,   \
                       device_span<V>, V, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
