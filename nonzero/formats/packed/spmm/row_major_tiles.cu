// packed.warp with several vectors by rows, of a matrix with tiles: a warp a chunk and a span of
// vectors.
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmm/slots.cuh"
#include "nonzero/formats/packed/spmm/tiles.cuh"

namespace nz {
namespace {

/// Neighbouring places that a group takes of a list among the tiles.
constexpr int places = 2;

/// A chunk of whole rows, part by part.
template <value_encoding C, int width, class V>
__device__ void multiply_list_rows(const packed<V, device_view>& A, const packed_chunk& c,
                                   lane_of_vectors<width, V>& lane, V alpha, V beta,
                                   const strided_vectors<V>& Y) {
    const chunk_parts<places> parts{lane.log_groups()};
    const int a_row = parts.of_row(c.log_lanes);
    neighbours<width, V> sum[places]{};
    for (int part = 0; part < parts.all(); ++part) {
        add_places<C>(A, c, parts.place(part, lane.group), lane, sum);
        if ((part + 1) % a_row != 0) continue;
        add_neighbours(c.log_lanes, sum);
        lane.add_groups(parts.log_groups_of_row(c.log_lanes), sum[0]);
        store_places(A, c, parts.place(part + 1 - a_row, lane.group), lane, sum, alpha, beta, Y);
#pragma unroll
        for (int p = 0; p < places; ++p) sum[p] = {};
    }
}

template <value_encoding C, int width, class V>
__global__ void __launch_bounds__(threads_per_block, 4)
    tile_rows_kernel(packed<V, device_view> A, vector_lanes along, V alpha,
                     strided_vectors<const V> X, V beta, strided_vectors<V> Y) {
    __shared__ tile_entries<V> of_warp[warps_per_block];
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned share = blockIdx.x * warps_per_block + warp;
    const unsigned k = unsigned(A.segment_chunks) + share / along.spans;
    if (k >= A.chunks.len) return;
    const packed_chunk c = load_chunk(A.chunks.ptr + k);
    lane_of_vectors<width, V> lane(along, share % along.spans, X);
    if (!is_tile(c.kind)) return multiply_list_rows<C>(A, c, lane, alpha, beta, Y);
    const device_decoder<C, true, V> value(A);
    multiply_tile_rows(A, c, value, lane, alpha, beta, Y, of_warp[warp]);
}

}  // namespace

template <class V>
void spmv_tile_rows(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X, V beta,
                    out_columns<V, gpu> Y) {
    const std::int64_t chunks = std::int64_t(A.chunks.len) - A.segment_chunks;
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        vector_lanes along{count, 2, 0,
                           1};  // a group of four lanes, or as many as the vectors need
        while (along.log_lanes < 5 && width << along.log_lanes < count) ++along.log_lanes;
        along.spans = unsigned((count - 1) / (width << along.log_lanes) + 1);
        const auto multiply = [&]<value_encoding C>() {
            launch<tile_rows_kernel<C, width, V>>(on,
                                                  blocks_for(chunks * along.spans, warps_per_block),
                                                  threads_per_block, A, along, alpha, x, beta, y);
        };
        // Only values of no table are stored in tiles.
        if (sizeof(V) > sizeof(float) && A.encoding == value_encoding::float32)
            return multiply.template operator()<value_encoding::float32>();
        multiply.template operator()<value_encoding::none>();
    });
}

template void spmv_tile_rows(gpu, float, const packed<float, device_view>&, in_columns<float, gpu>,
                             float, out_columns<float, gpu>);
template void spmv_tile_rows(gpu, double, const packed<double, device_view>&,
                             in_columns<double, gpu>, double, out_columns<double, gpu>);

}  // namespace nz
