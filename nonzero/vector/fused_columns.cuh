// A pass over several vectors on a GPU: lanes lie along the vectors, and for each run of them
// the last block to arrive adds what the others summed.
#pragma once

#include "nonzero/vector/fused.cuh"
#include "nonzero/vector/fused_columns.hpp"

namespace nz {

/// The sum over a block's threads of each lane, in the first row of lanes; a fixed tree.
template <class Totals>
__device__ Totals sum_lane_rows(const Totals& mine, int log_lanes) {
    __shared__ Totals of_thread[column_grid::threads];
    of_thread[threadIdx.x] = mine;
    for (int half = column_grid::threads / 2; half >> log_lanes > 0; half /= 2) {
        __syncthreads();
        if (int(threadIdx.x) < half) of_thread[threadIdx.x] += of_thread[threadIdx.x + half];
    }
    const Totals sum = of_thread[threadIdx.x];
    __syncthreads();  // of_thread is used again
    return sum;
}

template <class Step>
__global__ void __launch_bounds__(column_grid::threads)
    columns_kernel(std::int64_t rows, index count, int log_lanes, Step step,
                   typename Step::scalars* at, typename Step::totals* partial, unsigned* tickets) {
    using totals = typename Step::totals;
    wait_for_previous();
    const int first_row = int(threadIdx.x) >> log_lanes,
              rows_a_block = column_grid::threads >> log_lanes;
    const index c = index(blockIdx.y << log_lanes) + index(threadIdx.x & ((1U << log_lanes) - 1));
    const bool works = c < count && !skips<Step>(at[c]);
    totals mine = {};
    if (works) {
        const typename Step::scalars s = at[c];
        const std::int64_t stride = std::int64_t(gridDim.x) * rows_a_block;
#pragma unroll 4
        for (std::int64_t i = std::int64_t(blockIdx.x) * rows_a_block + first_row; i < rows;
             i += stride)
            mine += element_of(step, {i, i * count + c, c}, s);
    }
    if constexpr (finishes<Step>) {
        mine = sum_lane_rows(mine, log_lanes);
        if (first_row == 0 && c < count) partial[blockIdx.x * unsigned(count) + unsigned(c)] = mine;
        __syncthreads();
        if (!is_last_block(tickets + blockIdx.y)) return;
        totals all = {};
        if (works)
            for (unsigned b = unsigned(first_row); b < gridDim.x; b += unsigned(rows_a_block))
                all += partial[b * unsigned(count) + unsigned(c)];
        all = sum_lane_rows(all, log_lanes);
        if (first_row == 0 && works) step.finish(at[c], all);
    }
}

template <class Step>
void launch_column_step(gpu on, std::int64_t rows, index count, const Step& step,
                        typename Step::scalars* at) {
    if (count == 0) return;
    const device_guard guard(on);
    const column_grid grid(rows, count);
    std::byte* const scratch = on.scratch.data();
    NZ_ASSERT(!finishes<Step> || on.ranks == nullptr);
    launch<columns_kernel<Step>>(
        on, dim3(unsigned(grid.blocks), unsigned(grid.runs(count))), unsigned(column_grid::threads),
        rows, count, grid.log_lanes, step, at,
        reinterpret_cast<typename Step::totals*>(scratch + column_tickets_bytes),
        reinterpret_cast<unsigned*>(scratch));
    check_launch("columns_kernel");
}

template <class Step>
void launch_columns(gpu on, std::int64_t rows, index count, const Step& step,
                    typename Step::scalars* at) {
    using in_kernel = typename in_kernels_as<Step>::type;
    launch_column_step(on, rows, count, std::bit_cast<in_kernel>(step),
                       reinterpret_cast<typename in_kernel::scalars*>(at));
}

}  // namespace nz
