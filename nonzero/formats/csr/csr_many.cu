// Several vectors with a CSR on a GPU: as many lanes a row as there are vectors, which load each
// entry together and their elements of X side by side.
#include <bit>

#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/stream.hpp"
#include "nonzero/formats/csr/csr_many.hpp"

namespace nz {
namespace {

constexpr int threads_per_block = 256;

template <class V>
struct strided_columns {
    V* first;
    std::size_t row_stride, vector_stride;
    __device__ V& at(std::int64_t row, std::int64_t vector) const {
        return first[std::size_t(row) * row_stride + std::size_t(vector) * vector_stride];
    }
};

/// `each` vectors a lane.
template <int each, class V>
__global__ void __launch_bounds__(threads_per_block)
    csr_many_kernel(csr<V, device_view> A, V alpha, strided_columns<const V> X, V beta,
                    strided_columns<V> Y, index count, int log_lanes) {
    wait_for_previous();
    const std::int64_t thread = std::int64_t(blockIdx.x) * threads_per_block + threadIdx.x;
    const std::int64_t i = thread >> log_lanes, lanes = std::int64_t(1) << log_lanes;
    if (i >= A.shape.rows) return;
    const std::int64_t c = std::int64_t(blockIdx.y) * each * lanes + (thread & (lanes - 1));
    V sum[each] = {};
    const offset end = A.row_ptr[i + 1];
#pragma unroll 2
    for (offset k = A.row_ptr[i]; k < end; ++k) {
        const V a = A.val[k];
        const index j = A.col_ind[k];
#pragma unroll
        for (int v = 0; v < each; ++v)
            if (c + v * lanes < count) sum[v] += a * X.at(j, c + v * lanes);
    }
#pragma unroll
    for (int v = 0; v < each; ++v) {
        if (c + v * lanes >= count) continue;
        V& y = Y.at(i, c + v * lanes);
        y = beta == V(0) ? alpha * sum[v] : alpha * sum[v] + beta * y;
    }
}

}  // namespace

template <class V>
void multiply_by_csr(gpu on, V alpha, const csr<V, device_view>& A, in_columns<V, gpu> X, V beta,
                     out_columns<V, gpu> Y) {
    if (A.shape.rows == 0 || Y.count == 0) return;
    const int log_lanes = std::min(int(std::bit_width(unsigned(Y.count) - 1)), 5);
    using W = device_value<V>;
    const auto run = [&]<int each>() {
        const dim3 grid(blocks_for(std::int64_t(A.shape.rows) << log_lanes, threads_per_block),
                        unsigned(blocks_for(Y.count, each << log_lanes)));
        launch<csr_many_kernel<each, W>>(
            on, grid, threads_per_block, in_kernels(A), in_kernels(alpha),
            strided_columns<const W>{in_kernels(X.values.data()), X.row_stride(),
                                     X.vector_stride()},
            in_kernels(beta),
            strided_columns<W>{in_kernels(Y.values.data()), Y.row_stride(), Y.vector_stride()},
            Y.count, log_lanes);
    };
    Y.count > 32 ? run.template operator()<2>() : run.template operator()<1>();
    check_launch("csr_many_kernel");
}

#define NZ_INSTANTIATE(V)                                                                    \
    template void multiply_by_csr(gpu, V, const csr<V, device_view>&, in_columns<V, gpu>, V, \
                                  out_columns<V, gpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
