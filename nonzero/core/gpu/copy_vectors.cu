// Several vectors from one storage order to another, by tiles in shared memory.
#include "nonzero/core/device_complex.cuh"
#include "nonzero/core/gpu.hpp"
#include "nonzero/core/launch.cuh"

namespace nz {
namespace {

constexpr int tile = 32;  ///< vectors, and elements of each
constexpr int threads_per_block = 256;

template <class V>
struct strided {
    V* first;
    std::size_t row_stride, vector_stride;
    bool by_row;

    /// f(place, element's number, vector's number), in the order of memory, for `rows` elements of
    /// `vectors` vectors.
    template <class F>
    __device__ void each(unsigned rows, unsigned vectors, F f) const {
        for (unsigned k = threadIdx.x; k < rows * vectors; k += threads_per_block) {
            const unsigned line = by_row ? vectors : rows;
            const unsigned r = by_row ? k / line : k % line, c = by_row ? k % line : k / line;
            f(first + r * row_stride + c * vector_stride, r, c);
        }
    }
    __device__ strided from(std::size_t row, std::size_t vector) const {
        return {first + row * row_stride + vector * vector_stride, row_stride, vector_stride,
                by_row};
    }
};

template <class V>
__global__ void __launch_bounds__(threads_per_block)
    copy_tiles(strided<const V> from, strided<V> to, std::size_t len, std::size_t count) {
    __shared__ V of_tile[tile][tile + 1];  // one more, so that columns spread over the banks
    wait_for_previous();
    const std::size_t row = std::size_t(blockIdx.x) * tile;
    const auto rows = unsigned(min(std::size_t(tile), len - row));
    for (std::size_t v = std::size_t(blockIdx.y) * tile; v < count;
         v += std::size_t(gridDim.y) * tile) {
        const auto vectors = unsigned(min(std::size_t(tile), count - v));
        from.from(row, v).each(rows, vectors,
                               [&](const V* p, unsigned r, unsigned c) { of_tile[r][c] = *p; });
        __syncthreads();
        to.from(row, v).each(rows, vectors,
                             [&](V* p, unsigned r, unsigned c) { *p = of_tile[r][c]; });
        __syncthreads();
    }
}

}  // namespace

template <class V>
void copy_vectors(gpu on, in_columns<V, gpu> from, out_columns<V, gpu> to, std::size_t len) {
    if (len == 0 || to.count == 0) return;
    constexpr unsigned most_in_y = 65535;
    const device_guard guard(on);
    const dim3 blocks(blocks_for(std::int64_t(len), tile),
                      std::min(blocks_for(to.count, tile), most_in_y));
    launch<copy_tiles<device_value<V>>>(
        on, blocks, threads_per_block,
        strided<const device_value<V>>{in_kernels(from.values.data()), from.row_stride(),
                                       from.vector_stride(), from.by_row()},
        strided<device_value<V>>{in_kernels(to.values.data()), to.row_stride(), to.vector_stride(),
                                 to.by_row()},
        len, std::size_t(to.count));
    check_launch("copy_vectors");
}

#define NZ_INSTANTIATE(V) \
    template void copy_vectors(gpu, in_columns<V, gpu>, out_columns<V, gpu>, std::size_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
