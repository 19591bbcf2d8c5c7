#include "nonzero/formats/jds_ell/jds_ell.hpp"

#include "nonzero/formats/panel.cuh"

namespace nz {
namespace {

template <bool streams, class V>
__global__ void section_kernel(const index* __restrict__ col_ind, const V* __restrict__ val,
                               const index* __restrict__ row, index rows, index width, V alpha,
                               plain_gather<V> x, V beta, V* __restrict__ y) {
    const unsigned r = row_of_thread();
    if (r >= unsigned(rows)) return;
    const V sum = sum_strided<streams>(col_ind, val, r, offset(rows), width, x);
    store_scaled(y + row[r], alpha, sum, beta);
}

}  // namespace

template <class V>
void spmv(gpu on, jds_ell_sections, V alpha, const jds_ell<V, device_view>& A, device_span<V> x,
          V beta, device_out<V> y) {
    with_loads(panel_bytes<V>(A.val.size()), [&]<bool streams>() {
        for (std::size_t s = 0; s < A.section_width.size(); ++s) {
            const index first = A.section_ptr[s], rows = A.section_ptr[s + 1] - first;
            const offset start = A.section_start[s];
            launch<section_kernel<streams, V>>(on, blocks_for(rows, panel_threads), panel_threads,
                                               A.col_ind.data() + start, A.val.data() + start,
                                               A.perm.data() + first, rows, A.section_width[s],
                                               alpha, plain_gather<V>{x.data()}, beta, y.data());
        }
    });
}

#define NZ_INSTANTIATE(V)                                                                        \
    template void spmv(gpu, jds_ell_sections, V, const jds_ell<V, device_view>&, device_span<V>, \
                       V, device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
