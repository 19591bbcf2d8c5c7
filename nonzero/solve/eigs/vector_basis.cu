// A basis's kernels on a GPU.
#include "nonzero/core/gpu_communicator.hpp"
#include "nonzero/solve/eigs/vector_basis_steps.hpp"
#include "nonzero/vector/fused.cuh"

namespace nz {
namespace {

// A block takes four vectors along a run of rows, and reads w once for the four. So vectors are
// shared out among blocks as rows are, and short vectors keep many blocks at work too.
constexpr int dots_threads = 256, dots_vectors = 4;
constexpr std::int64_t least_rows = 2048, most_runs = 128;

std::int64_t rows_of_run(std::int64_t n) {
    return std::max(least_rows, (n + most_runs - 1) / most_runs);
}
unsigned runs_of(std::int64_t n) {
    return unsigned(std::max<std::int64_t>((n + rows_of_run(n) - 1) / rows_of_run(n), 1));
}

/// partial_(k runs + r) = (v_k, w) along the r-th run of rows.
template <class V>
__global__ void __launch_bounds__(dots_threads)
    dots_kernel(std::int64_t n, std::int64_t rows, int count, const V* v, const V* w,
                double* partial) {
    wait_for_previous();
    const std::int64_t first = std::int64_t(blockIdx.x) * rows;
    const std::int64_t last = min(n, first + rows);
    const int from = int(blockIdx.y) * dots_vectors;
    sums<double, dots_vectors> mine{};
#pragma unroll 4
    for (std::int64_t i = first + threadIdx.x; i < last; i += dots_threads) {
        const double wi = double(w[i]);
#pragma unroll
        for (int k = 0; k < dots_vectors; ++k)
            if (from + k < count) mine[k] += double(v[(from + k) * n + i]) * wi;
    }
    mine = sum_block<dots_threads>(mine);
    if (threadIdx.x != 0) return;
#pragma unroll
    for (int k = 0; k < dots_vectors; ++k)
        if (from + k < count) partial[(from + k) * gridDim.x + blockIdx.x] = mine[k];
}

/// sum_k = partial_(k parts) + partial_(k parts + 1) + ..., a warp each.
__global__ void add_parts(int count, unsigned parts, const double* partial, double* sum) {
    wait_for_previous();
    const int k = int(blockIdx.x * blockDim.x + threadIdx.x) / warp_size;
    if (k >= count) return;
    double mine = 0;
    for (unsigned p = threadIdx.x % warp_size; p < parts; p += warp_size)
        mine += partial[k * parts + p];
    mine = sum_lanes<warp_size>(mine);
    if (threadIdx.x % warp_size == 0) sum[k] = mine;
}

/// sum_k over the ranks, in their order; of_ranks: `count` of each.
__global__ void add_ranks(int count, int ranks, const double* of_ranks, double* sum) {
    wait_for_previous();
    const int k = int(threadIdx.x);
    if (k >= count) return;
    double all = 0;
    for (int r = 0; r < ranks; ++r) all += of_ranks[r * count + k];
    sum[k] = all;
}

}  // namespace

std::size_t dots_scratch(gpu on, std::int64_t n, int count) {
    const std::size_t of_ranks = on.ranks == nullptr ? 0 : 1 + std::size_t(on.ranks->size());
    return std::size_t(count) * (runs_of(n) + of_ranks);
}

template <class V>
void launch_dots(gpu on, std::int64_t n, int count, const V* v, const V* w, double* scratch,
                 double* h) {
    static_assert(max_basis <= 1024, "add_ranks has a thread for each");
    constexpr int of_block = dots_threads / warp_size;
    const device_guard guard(on);
    const unsigned runs = runs_of(n);
    double* const own = on.ranks == nullptr ? h : scratch + std::size_t(count) * runs;
    launch<dots_kernel<V>>(on, dim3(runs, blocks_for(count, dots_vectors)), dots_threads, n,
                           rows_of_run(n), count, v, w, scratch);
    launch<add_parts>(on, blocks_for(count, of_block), dots_threads, count, runs,
                      static_cast<const double*>(scratch), own);
    check_launch("dots");
    if (on.ranks == nullptr) return;
    double* const all = own + count;
    const std::size_t bytes = std::size_t(count) * sizeof(double);
    const int ranks = on.ranks->size();
    on.ranks->gather_on_gpu(on, {reinterpret_cast<std::byte*>(own), bytes},
                            {reinterpret_cast<std::byte*>(all), std::size_t(ranks) * bytes});
    launch<add_ranks>(on, 1, blocks_for(count, warp_size) * warp_size, count, ranks,
                      static_cast<const double*>(all), h);
    check_launch("dots");
}

#define NZ_INSTANTIATE(V)                                                                         \
    template void launch_dots(gpu, std::int64_t, int, const V*, const V*, double*, double*);      \
    template void launch_fused(gpu, std::int64_t, const basis_subtract<V>&, basis_subtraction*);  \
    template void launch_fused(gpu, std::int64_t, const basis_combine<V>&, one_scalar<double>*);  \
    template void launch_fused(gpu, std::int64_t, const basis_residual<V>&, one_scalar<double>*); \
    template void launch_fused(gpu, std::int64_t, const basis_rotate<V>&, one_scalar<double>*);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
