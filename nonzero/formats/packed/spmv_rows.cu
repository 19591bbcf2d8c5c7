// packed.warp with several vectors by rows: a warp a chunk and a span of vectors.
#include <bit>

#include "nonzero/formats/packed/row_major.cuh"
#include "nonzero/formats/packed/spmv_rows.hpp"

namespace nz {
namespace {

/// Where the blocks of one long row leave their sums, packed_row_vectors a block, and how many of
/// them have, for each span.
template <class V>
struct row_sums {
    static constexpr unsigned counters = packed_row_vectors / packed_vectors;  ///< a block
    V* sum;
    unsigned* arrived;
};

/// The segments of a block, for one span: as for one vector.
template <int width, bool side_by_side, class D, class V>
__device__ void multiply_segments(const packed<V, device_view>& A, D value,
                                  const vector_lanes& along, const strided_vectors<const V>& X,
                                  V alpha, V beta, const strided_vectors<V>& Y,
                                  staged_entries<V>* of_warp, row_sums<V> of_blocks) {
    const unsigned block = blockIdx.x / along.spans, span = blockIdx.x % along.spans;
    const int warp = int(threadIdx.x) / warp_size;
    const packed_chunk c = load_chunk(A.chunks.ptr + block * warps_per_block + unsigned(warp));
    lane_of_vectors<width, side_by_side, V> lane(along, span, X);
    auto sum = sum_segment(A, c, value, lane, of_warp[warp]);
    const bool mine = lane.group == 0 && lane.active;
    const auto at = [&](V* sums) {
        return reinterpret_cast<neighbours<width, V>*>(sums + lane_id() * width);
    };
    if (mine) *at(of_warp[warp].val) = sum;
    __syncthreads();
    // The first warp of a row within this block adds its segments.
    if (c.segments == 0 || (c.number > 0 && warp > 0)) return;
    const auto add = [&](const neighbours<width, V>& more) {
#pragma unroll
        for (int w = 0; w < width; ++w) sum.of[w] += more.of[w];
    };
    const int here = min(c.segments - c.number, warps_per_block - warp);
    if (mine)
        for (int p = 1; p < here; ++p) add(*at(of_warp[warp + p].val));
    if (here == c.segments) {
        if (mine) lane.store(Y, c.first_row, alpha, sum, beta);
        return;
    }
    const unsigned first = block - unsigned(c.number / warps_per_block);
    const int blocks = (c.segments + warps_per_block - 1) / warps_per_block;
    V* const sums = of_blocks.sum + lane.vector;
    unsigned* const arrived = of_blocks.arrived + first * row_sums<V>::counters + span;
    if (mine)
#pragma unroll
        for (int w = 0; w < width; ++w)
            sums[std::size_t(block) * packed_row_vectors + w] = sum.of[w];
    __threadfence();  // the sums before their announcement
    __syncwarp();
    unsigned before = 0;
    if (lane_id() == 0) before = atomicAdd(arrived, 1U);
    before = __shfl_sync(full_warp, before, 0);
    if (before != unsigned(blocks) - 1) return;
    __threadfence();  // the announcements before the sums of the others
    sum = {};
    if (mine) {
        for (int b = 0; b < blocks; ++b)
#pragma unroll
            for (int w = 0; w < width; ++w)
                sum.of[w] +=
                    __ldcg(sums + std::size_t(first + unsigned(b)) * packed_row_vectors + w);
        lane.store(Y, c.first_row, alpha, sum, beta);
    }
    if (lane_id() == 0) *arrived = 0;  // for the next product
}

template <value_encoding C, int width, bool side_by_side, class V>
__global__ void __launch_bounds__(threads_per_block, 4)
    rows_kernel(packed<V, device_view> A, vector_lanes along, V alpha, strided_vectors<const V> X,
                V beta, strided_vectors<V> Y, row_sums<V> of_blocks) {
    __shared__ staged_entries<V> of_warp[warps_per_block];
    const device_decoder<C, true, V> value(A);
    const unsigned segment_blocks = unsigned(A.segment_chunks) / warps_per_block * along.spans;
    if (blockIdx.x < segment_blocks)
        return multiply_segments<width, side_by_side>(A, value, along, X, alpha, beta, Y, of_warp,
                                                      of_blocks);
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned share = (blockIdx.x - segment_blocks) * warps_per_block + warp;
    const unsigned k = unsigned(A.segment_chunks) + share / along.spans;
    if (k >= A.chunks.len) return;
    const packed_chunk c = load_chunk(A.chunks.ptr + k);
    const lane_of_vectors<width, side_by_side, V> lane(along, share % along.spans, X);
    if (is_tile(c.kind))
        return multiply_tile_rows(A, c, value, lane, alpha, beta, Y, of_warp[warp]);
    multiply_rows(A, c, value, lane, alpha, beta, Y, of_warp[warp]);
}

/// Spans as wide as a warp's lanes reach, or narrower ones where the warps would be too few to fill
/// the machine.
vector_lanes lanes_along(int count, int width, std::int64_t chunks) {
    constexpr std::int64_t enough_warps = 4096;  // 32 on each multiprocessor of an H200
    vector_lanes along{count, 0, 1};
    const auto span = [&] { return width << along.log_lanes; };
    const auto spans = [&] { return (count - 1) / span() + 1; };
    while (along.log_lanes < 5 && span() < count) ++along.log_lanes;
    while (span() > packed_vectors && chunks * spans() < enough_warps) --along.log_lanes;
    along.spans = unsigned(spans());
    return along;
}

template <int width, bool side_by_side, class V>
void launch_rows(gpu on, V alpha, const packed<V, device_view>& A, strided_vectors<const V> X,
                 V beta, strided_vectors<V> Y, int count) {
    const std::int64_t chunks = std::int64_t(A.chunks.len), segments = A.segment_chunks;
    const std::int64_t blocks = segments / warps_per_block;
    // Behind what products with one vector leave: a sum and 8 bytes a block.
    V* const sums = reinterpret_cast<V*>(on.scratch.data() +
                                         std::size_t(blocks) * (sizeof(V) + 2 * sizeof(unsigned)));
    const row_sums<V> of_blocks{sums,
                                reinterpret_cast<unsigned*>(sums + blocks * packed_row_vectors)};
    const vector_lanes along = lanes_along(count, width, chunks);
    const dim3 grid(unsigned(blocks) * along.spans +
                    blocks_for((chunks - segments) * along.spans, warps_per_block));
    with_encoding(A.encoding, [&]<value_encoding C>() {
        launch<rows_kernel<C, width, side_by_side, V>>(on, grid, threads_per_block, A, along, alpha,
                                                       X, beta, Y, of_blocks);
    });
}

/// Whether `width` elements of a row may be moved at once.
template <class V>
bool is_wide(const V* first, std::size_t row_stride, std::size_t vector_stride, int width) {
    return vector_stride == 1 && row_stride % std::size_t(width) == 0 &&
           std::uintptr_t(first) % (std::size_t(width) * sizeof(V)) == 0;
}

}  // namespace

template <class V>
void spmv_rows(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X, V beta,
               out_columns<V, gpu> Y) {
    constexpr int width = 16 / sizeof(V);
    for (int first = 0; first < Y.count; first += packed_row_vectors) {
        const int count = std::min(packed_row_vectors, Y.count - first);
        strided_vectors<const V> x{X.values.data() + std::size_t(first) * X.vector_stride(),
                                   X.row_stride(), X.vector_stride(), true};
        strided_vectors<V> y{Y.values.data() + std::size_t(first) * Y.vector_stride(),
                             Y.row_stride(), Y.vector_stride(), false};
        if (x.vector_stride != 1) {
            launch_rows<1, false>(on, alpha, A, x, beta, y, count);
        } else if (count % width == 0 && is_wide(x.first, x.row_stride, 1, width)) {
            y.wide = is_wide(y.first, y.row_stride, y.vector_stride, width);
            launch_rows<width, true>(on, alpha, A, x, beta, y, count);
        } else {
            launch_rows<1, true>(on, alpha, A, x, beta, y, count);
        }
    }
}

template void spmv_rows(gpu, float, const packed<float, device_view>&, in_columns<float, gpu>,
                        float, out_columns<float, gpu>);
template void spmv_rows(gpu, double, const packed<double, device_view>&, in_columns<double, gpu>,
                        double, out_columns<double, gpu>);

}  // namespace nz
