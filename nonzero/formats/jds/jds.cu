#include "nonzero/formats/jds/jds.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

constexpr int diagonals_at_once = 4;

template <class V>
__global__ void row_kernel(jds<V, device_view> A, V alpha, const V* x, V beta, V* __restrict__ y) {
    x = wait_for_previous(x);
    const unsigned r = row_of_thread();
    if (r >= unsigned(A.shape.rows)) return;
    V sum = 0;
    const offset end = A.row_ptr[r + 1];
    for (offset k = A.row_ptr[r]; k < end; ++k) sum += A.val[k] * gather(x + A.col_ind[k]);
    store_scaled(y + A.perm[r], alpha, sum, beta);
}

template <class V>
__global__ void transposed_kernel(jds_transposed<V, device_view> A, V alpha, const V* x, V beta,
                                  V* __restrict__ y) {
    x = wait_for_previous(x);
    const unsigned r = row_of_thread();
    if (r >= unsigned(A.shape.rows)) return;
    V sum = 0;
    const int diagonals = int(A.jd_ptr.len) - 1;
    // Several diagonals at once: one by one, each waits for its bounds, its column and its x.
    for (int d = 0; d < diagonals; d += diagonals_at_once) {
        index j[diagonals_at_once];
        V v[diagonals_at_once];
#pragma unroll
        for (int u = 0; u < diagonals_at_once; ++u) {
            const int e = min(d + u, diagonals - 1);
            const offset at = A.jd_ptr[e] + r;
            const bool inside = d + u < diagonals && at < A.jd_ptr[e + 1];
            j[u] = inside ? A.col_ind[at] : -1;
            v[u] = inside ? A.val[at] : V(0);
        }
#pragma unroll
        for (int u = 0; u < diagonals_at_once; ++u)
            if (j[u] >= 0) sum += v[u] * gather(x + j[u]);
        if (j[diagonals_at_once - 1] < 0) break;  // diagonals only get shorter
    }
    store_scaled(y + A.perm[r], alpha, sum, beta);
}

}  // namespace

template <class V>
void spmv(gpu on, jds_row, V alpha, const jds<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    launch<row_kernel<V>>(on, blocks_for(A.shape.rows, panel_threads), panel_threads, A, alpha,
                          x.data(), beta, y.data());
}

template <class V>
void spmv(gpu on, jds_diagonals, V alpha, const jds_transposed<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    launch<transposed_kernel<V>>(on, blocks_for(A.shape.rows, panel_threads), panel_threads, A,
                                 alpha, x.data(), beta, y.data());
}

#define NZ_INSTANTIATE(V)                                                              \
    template void spmv(gpu, jds_row, V, const jds<V, device_view>&, device_span<V>, V, \
                       device_out<V>);                                                 \
    template void spmv(gpu, jds_diagonals, V, const jds_transposed<V, device_view>&,   \
                       device_span<V>, V, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
