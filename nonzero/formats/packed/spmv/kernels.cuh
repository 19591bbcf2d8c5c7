// The kernels of packed.warp with one vector on a GPU, whatever becomes of the rows' sums.
#pragma once

#include "nonzero/formats/packed/spmv/identical_offsets.cuh"
#include "nonzero/formats/packed/spmv/tiles.cuh"

namespace nz {
namespace {

/// Scratch memory for the sums of a row whose segments span several blocks.
template <class V>
struct block_sums {
    V* sum;
    unsigned* arrived;
};

/// The segments in this block of one row, by the first warp among them.
template <class End, class V>
__device__ void add_segments(const packed_chunk& c, const V* of_warp, End& end, V* __restrict__ y,
                             block_sums<V> of_block) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    if (c.segments == 0 || (c.number > 0 && warp > 0)) return;
    const int here = min(c.segments - c.number, warps_per_block - warp);
    V sum = 0;
    for (int p = 0; p < here; ++p) sum += of_warp[warp + p];
    if (here == c.segments) {
        if (lane == 0) end(y + c.first_row, c.first_row, sum);
        return;
    }
    const int first = int(blockIdx.x) - c.number / warps_per_block;
    const int blocks = (c.segments + warps_per_block - 1) / warps_per_block;
    unsigned before = 0;
    if (lane == 0) {
        of_block.sum[blockIdx.x] = sum;
        __threadfence();  // the sum before its announcement
        before = atomicAdd(of_block.arrived + first, 1U);
    }
    before = __shfl_sync(full_warp, before, 0);
    if (before != unsigned(blocks) - 1) return;
    __threadfence();  // the announcements before the sums of the others
    sum = 0;
    for (int b = lane; b < blocks; b += warp_size) sum += __ldcg(of_block.sum + first + b);
    sum = sum_lanes<warp_size>(sum);
    if (lane == 0) {
        end(y + c.first_row, c.first_row, sum);
        of_block.arrived[first] = 0;  // for the next product
    }
}

/// `segments`, `tiles`: whether there are any; without, the kernel needs fewer registers, and no
/// shared memory. `streams`: whether the matrix bypasses L1.
template <value_encoding C, bool segments, bool tiles, bool streams, class End, class V>
__global__ void __launch_bounds__(threads_per_block, resident_blocks<streams>)
    packed_kernel(packed<V, device_view> A, End end, const V* x, V* __restrict__ y,
                  block_sums<V> of_block) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    const unsigned k = blockIdx.x * warps_per_block + unsigned(warp);
    if (k >= A.chunks.len) return;  // never in a block of segments: those are full
    const device_decoder<C, streams, V> value(A);
    if constexpr (segments) {
        if (blockIdx.x < unsigned(A.segment_chunks) / warps_per_block) {
            __shared__ V of_warp[warps_per_block];
            const V sum =
                sum_lanes<warp_size>(sum_columns(A, load_chunk(A.chunks.ptr + k), value, x, lane));
            if (lane == 0) of_warp[warp] = sum;
            __syncthreads();
            return add_segments(A.chunks.ptr[k], of_warp, end, y, of_block);
        }
    }
    if constexpr (tiles) {
        __shared__ V of_rows[warps_per_block][most_tile_rows];
        if (is_tile(A.chunks.ptr[k].kind))
            return multiply_tile(A, A.chunks.ptr + k, value, x, end, y, of_rows[warp]);
    }
    multiply_chunk(A, load_chunk(A.chunks.ptr + k), value, x, end, y, lane);
}

template <value_encoding C, int count, bool streams, class End, class V>
__global__ void __launch_bounds__(threads_per_block, resident_blocks_identical<C, count>)
    identical_offsets_kernel(packed<V, device_view> A, End end, const V* x, V* __restrict__ y) {
    multiply_identical<C, count, streams>(A, x, end, y);
    if constexpr (requires { end.template finish_block<threads_per_block>(); })
        end.template finish_block<threads_per_block>();
}

/// Multiplies by the kernel that suits A, and gives every row's sum to `end`.
template <class End, class V>
void multiply_packed(gpu on, const packed<V, device_view>& A, device_span<V> x, device_out<V> y,
                     const End& end) {
    V* const sums = reinterpret_cast<V*>(on.scratch.data());
    const block_sums<V> of_block{
        sums, reinterpret_cast<unsigned*>(sums + A.segment_chunks / warps_per_block)};
    const auto start = [&]<auto kernel>() {
        launch<kernel>(on, blocks_for(std::int64_t(A.chunks.len), warps_per_block),
                       threads_per_block, A, end, x.data(), y.data(), of_block);
    };
    const auto start_identical = [&]<auto kernel>() {
        const std::int64_t warps = (std::int64_t(A.chunks.len) - 1) / A.chunks_per_warp + 1;
        launch<kernel>(on, blocks_for(warps, warps_per_block), threads_per_block, A, end, x.data(),
                       y.data());
    };
    with_encoding<V>(A.encoding, [&]<value_encoding C>() {
        if constexpr (C >= value_encoding::float32)  // no table: there may be tiles
            if (A.tiles > 0)
                return start.template operator()<packed_kernel<C, true, true, true, End, V>>();
        with_loads(A.val.len + 4 * A.indices.len, [&]<bool streams>() {
            if (A.chunks_per_warp == 4)
                return start_identical
                    .template operator()<identical_offsets_kernel<C, 4, streams, End, V>>();
            if (A.chunks_per_warp == 2)
                return start_identical
                    .template operator()<identical_offsets_kernel<C, 2, streams, End, V>>();
            if (A.segment_chunks > 0)
                return start.template operator()<packed_kernel<C, true, false, streams, End, V>>();
            start.template operator()<packed_kernel<C, false, false, streams, End, V>>();
        });
    });
}

}  // namespace
}  // namespace nz
