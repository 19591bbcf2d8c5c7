#include "nonzero/core/launch.cuh"
#include "nonzero/formats/bsr/bsr.hpp"

namespace nz {
namespace {

constexpr int warps_per_block = 8;

/// One row of one block times its part of x: all of it where `bits` says that no fill is in it.
template <class V>
__device__ V multiply_block_row(const V* __restrict__ val, std::uint64_t bits, index width,
                                const V* x) {
    V sum = 0;
    for (index c = 0; c < width; ++c)
        if (bits >> c & 1) sum += val[c] * gather(x + c);
    return sum;
}

/// One warp a row of blocks: lane l takes row l % block_rows of every (l / block_rows)-th block,
/// so that neighbouring lanes read neighbouring rows of a block. The lanes of one row are then
/// summed, in their order, by the first of them.
template <class V>
__global__ void block_kernel(bsr<V, device_view> A, V alpha, const V* x, V beta,
                             V* __restrict__ y) {
    x = wait_for_previous(x);
    __shared__ V sums[warps_per_block][warp_size];
    const std::int64_t block_row = std::int64_t(blockIdx.x) * warps_per_block + threadIdx.y;
    if (block_row >= std::int64_t(A.block_row_ptr.len) - 1) return;
    const int lane = int(threadIdx.x);
    // Blocks of more than 32 rows take several trips over `r`.
    for (index r0 = 0; r0 < A.block_rows; r0 += warp_size) {
        const int rows = min(A.block_rows - r0, warp_size), at_once = warp_size / rows;
        const index r = r0 + lane % rows;
        const std::int64_t i = block_row * A.block_rows + r;
        V sum = 0;
        if (lane < rows * at_once && i < A.shape.rows) {
            const std::uint64_t every = ~std::uint64_t(0) >> (64 - A.block_cols);
            const offset end = A.block_row_ptr[block_row + 1];
#pragma unroll 2
            for (offset b = A.block_row_ptr[block_row] + lane / rows; b < end; b += at_once) {
                const std::uint64_t bits = A.stored[b] >> (r * A.block_cols) & every;
                const offset at = (b * A.block_rows + r) * A.block_cols;
                sum += multiply_block_row(A.val.ptr + at, bits, A.block_cols,
                                          x + offset(A.block_col_ind[b]) * A.block_cols);
            }
        }
        sums[threadIdx.y][lane] = sum;
        __syncwarp();
        if (lane < rows && i < A.shape.rows) {
            for (int other = lane + rows; other < rows * at_once; other += rows)
                sum += sums[threadIdx.y][other];
            store_scaled(y + i, alpha, sum, beta);
        }
        __syncwarp();
    }
}

}  // namespace

template <class V>
void spmv(gpu on, bsr_block, V alpha, const bsr<V, device_view>& A, device_span<V> x, V beta,
          device_out<V> y) {
    const auto block_rows = std::int64_t(A.block_row_ptr.size()) - 1;
    launch<block_kernel<V>>(on, blocks_for(block_rows, warps_per_block),
                            dim3(warp_size, warps_per_block), A, alpha, x.data(), beta, y.data());
}

#define NZ_INSTANTIATE(V)                                                                \
    template void spmv(gpu, bsr_block, V, const bsr<V, device_view>&, device_span<V>, V, \
                       device_out<V>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
