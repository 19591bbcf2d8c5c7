// How a fused vector kernel runs on a GPU: one launch, whose last block to arrive adds what the
// others summed.
#pragma once

#include <bit>
#include <cuda/atomic>

#include "nonzero/core/gpu.hpp"
#include "nonzero/core/launch.cuh"
#include "nonzero/core/stream.hpp"
#include "nonzero/vector/fused.hpp"
#include "nonzero/vector/scalar.cuh"

namespace nz {

/// The blocks that a step runs in.
template <class Step>
inline constexpr fused_grid grid_of = usual_grid;
template <class Step>
requires requires { Step::grid; }
inline constexpr fused_grid grid_of<Step> = Step::grid;

/// The sum over a block's threads, in thread 0; a fixed tree.
template <int threads, class Totals>
__device__ Totals sum_block(Totals mine) {
    constexpr int warps = threads / warp_size;
    __shared__ Totals of_warp[warps];
    constexpr int count = int(sizeof(mine.part) / sizeof(mine.part[0]));
    const int lane = int(threadIdx.x) % warp_size, warp = int(threadIdx.x) / warp_size;
#pragma unroll
    for (int k = 0; k < count; ++k) mine[k] = sum_lanes<warp_size>(mine[k]);
    if (lane == 0) of_warp[warp] = mine;
    __syncthreads();
    if (warp == 0) {
        mine = lane < warps ? of_warp[lane] : Totals{};
#pragma unroll
        for (int k = 0; k < count; ++k) mine[k] = sum_lanes<warp_size>(mine[k]);
    }
    __syncthreads();  // of_warp is used again
    return mine;
}

/// True in all threads of the block that is the last to get here; ticket is 0 again then.
inline __device__ bool is_last_block(unsigned* ticket) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        // Releases what this block wrote and acquires what the others did; two fences around a
        // relaxed atomic are slower.
        const cuda::atomic_ref<unsigned, cuda::thread_scope_device> arrived(*ticket);
        last = arrived.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1;
        if (last) *ticket = 0;
    }
    __syncthreads();
    return last;
}

template <class Step>
__global__ void __launch_bounds__(int(grid_of<Step>.threads))
    fused_kernel(std::int64_t n, Step step, typename Step::scalars* at,
                 typename Step::totals* partial, unsigned* ticket, typename Step::totals* of_rank) {
    using totals = typename Step::totals;
    constexpr int threads = int(grid_of<Step>.threads);
    wait_for_previous();
    const typename Step::scalars s = *at;
    if (skips<Step>(s)) return;
    totals mine = {};
    const std::int64_t stride = std::int64_t(gridDim.x) * threads;
#pragma unroll 4
    for (std::int64_t i = std::int64_t(blockIdx.x) * threads + threadIdx.x; i < n; i += stride)
        mine += element_of(step, i, s);
    if constexpr (finishes<Step>) {
        mine = sum_block<threads>(mine);
        if (threadIdx.x == 0) partial[blockIdx.x] = mine;
        if (!is_last_block(ticket)) return;
        totals all = {};
        for (unsigned b = threadIdx.x; b < gridDim.x; b += unsigned(threads)) all += partial[b];
        all = sum_block<threads>(all);
        if (threadIdx.x != 0) return;
        of_rank == nullptr ? step.finish(*at, all) : void(*of_rank = all);
    }
}

/// The end of a step over ranks: their sums, added in rank order.
template <class Step>
__global__ void finish_kernel(Step step, typename Step::scalars* at,
                              const typename Step::totals* of_ranks, int ranks) {
    wait_for_previous();
    if (skips<Step>(*at)) return;
    typename Step::totals all = {};
    for (int r = 0; r < ranks; ++r) all += of_ranks[r];
    step.finish(*at, all);
}

/// A step as kernels take it: its complex numbers are device_complex there.
template <class Step>
struct in_kernels_as : std::type_identity<Step> {};
template <template <class...> class Step, class R, class... More>
struct in_kernels_as<Step<std::complex<R>, More...>>
    : std::type_identity<Step<device_complex<R>, typename in_kernels_as<More>::type...>> {};

template <class Step>
void launch_step(gpu on, std::int64_t n, const Step& step, typename Step::scalars* at) {
    const device_guard guard(on);
    std::byte* const scratch = on.scratch.data();
    constexpr fused_grid grid = grid_of<Step>;
    static_assert(grid.threads >= usual_grid.threads && grid.most_blocks <= usual_grid.most_blocks,
                  "the scratch memory has room for the sums of the usual blocks");
    // The ticket, this rank's sums, all ranks', the blocks'.
    using totals = typename Step::totals;
    const auto bytes_at = [&](std::size_t k) { return scratch + k * max_sum_bytes; };
    const auto sums_at = [&](std::size_t k) { return reinterpret_cast<totals*>(bytes_at(k)); };
    totals* const of_rank = finishes<Step> && on.ranks != nullptr ? sums_at(1) : nullptr;
    launch<fused_kernel<Step>>(on, unsigned(grid.blocks(n)), unsigned(grid.threads), n, step, at,
                               sums_at(1 + sums_of_ranks(on)), reinterpret_cast<unsigned*>(scratch),
                               of_rank);
    check_launch("fused_kernel");
    if (of_rank == nullptr) return;
    if constexpr (finishes<Step>) {
        const auto ranks = std::size_t(on.ranks->size());
        on.ranks->gather_on_gpu(on, {bytes_at(1), sizeof(totals)},
                                {bytes_at(2), ranks * sizeof(totals)});
        launch<finish_kernel<Step>>(on, 1, 1, step, at, sums_at(2), int(ranks));
        check_launch("finish_kernel");
    }
}

template <class Step>
void launch_fused(gpu on, std::int64_t n, const Step& step, typename Step::scalars* at) {
    using in_kernel = typename in_kernels_as<Step>::type;
    launch_step(on, n, std::bit_cast<in_kernel>(step),
                reinterpret_cast<typename in_kernel::scalars*>(at));
}

}  // namespace nz
