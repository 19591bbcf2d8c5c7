// packed.warp with several vectors by rows, of a matrix with tiles: a warp a chunk and a span of
// vectors.
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmm/slots.cuh"
#include "nonzero/formats/packed/spmv/tiles.cuh"

namespace nz {
namespace {

/// A tile's entries, row by row, in a warp's shared memory.
template <class V>
struct alignas(16) tile_entries {
    index col_ind[most_tile_entries];
    V val[most_tile_entries];
    std::uint16_t row_end[most_tile_rows + 1];  ///< where each row ends; room for whole warps
};

/// Decodes a tile and finds where its rows end.
template <class D, class V>
__device__ void decode_tile(const packed<V, device_view>& A, const packed_chunk& c, D value,
                            tile_entries<V>& to) {
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane_id());
    const int lane = lane_id(), first = lane * int(c.width);
    for (int k = 0; k < int(c.width); ++k) {
        const int place = k * warp_size + lane;
        const std::uint32_t j =
            is_narrow(c.kind) ? load<true>(reinterpret_cast<const std::uint16_t*>(code) + place)
                              : load<true>(code + place);
        to.col_ind[first + k] = c.base + index(j);  // behind the last row: of padding, and unused
        to.val[first + k] = value[at + unsigned(k * warp_size)];
    }
    const std::uint32_t* const ends_of_lanes = code + words_a_column(c.kind) * c.width;
    unsigned ends = __ldg(reinterpret_cast<const std::uint8_t*>(ends_of_lanes) + lane);
    int before = sum_before(__popc(ends));
    for (; ends != 0; ends &= ends - 1)
        to.row_end[before++] = std::uint16_t(first + __ffs(int(ends)));
    __syncwarp();
    // So far of rows with entries alone; now of all, from the last on, as each moves backwards.
    const std::uint32_t* const occupied = ends_of_lanes + tile_ends_words;
    for (int r = (int(c.rows) - 1) / warp_size * warp_size; r >= 0; r -= warp_size) {
        int rows_before = __popc(__ldg(occupied + r / warp_size) & (lanes_before() << 1 | 1));
        for (int w = 0; w < r / warp_size; ++w) rows_before += __popc(__ldg(occupied + w));
        const std::uint16_t end = rows_before > 0 ? to.row_end[rows_before - 1] : std::uint16_t(0);
        __syncwarp();
        to.row_end[r + lane] = end;
        __syncwarp();
    }
}

/// A tile: groups take a row each.
template <int width, class D, class V>
__device__ void multiply_tile_rows(const packed<V, device_view>& A, const packed_chunk& c, D value,
                                   lane_of_vectors<width, V> lane, V alpha, V beta,
                                   const strided_vectors<V>& Y, tile_entries<V>& tile) {
    decode_tile(A, c, value, tile);
    lane.x = wait_for_previous(lane.x);
    for (int r = lane.group; r < int(c.rows); r += 1 << lane.log_groups()) {
        neighbours<width, V> sum{};
        const int end = tile.row_end[r];
        for (int t = r > 0 ? tile.row_end[r - 1] : 0; t < end; t += in_flight) {
            V v[in_flight]{};
            neighbours<width, V> x[in_flight]{};
#pragma unroll
            for (int u = 0; u < in_flight; ++u)
                if (t + u < end)
                    v[u] = tile.val[t + u], x[u] = gather(lane.row(tile.col_ind[t + u]));
#pragma unroll
            for (int u = 0; u < in_flight; ++u) sum.add(v[u], x[u]);
        }
        if (lane.active) lane.store(Y, c.first_row + r, alpha, sum, beta);
    }
}

/// Neighbouring slots that a group takes of a list among the tiles.
constexpr int slots = 2;

/// A chunk of whole rows, part by part.
template <value_encoding C, int width, class V>
__device__ void multiply_list_rows(const packed<V, device_view>& A, const packed_chunk& c,
                                   lane_of_vectors<width, V>& lane, V alpha, V beta,
                                   const strided_vectors<V>& Y) {
    const chunk_parts<slots> parts{lane.log_groups()};
    const int a_row = parts.of_row(c.log_lanes);
    neighbours<width, V> sum[slots]{};
    for (int part = 0; part < parts.all(); ++part) {
        add_slots<C>(A, c, parts.slot(part, lane.group), lane, sum);
        if ((part + 1) % a_row != 0) continue;
        add_neighbours(c.log_lanes, sum);
        lane.add_groups(parts.log_groups_of_row(c.log_lanes), sum[0]);
        store_slots(A, c, parts.slot(part + 1 - a_row, lane.group), lane, sum, alpha, beta, Y);
#pragma unroll
        for (int p = 0; p < slots; ++p) sum[p] = {};
    }
}

template <value_encoding C, int width, class V>
__global__ void __launch_bounds__(threads_per_block, 4)
    row_major_tiles_kernel(packed<V, device_view> A, vector_lanes along, V alpha,
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
void spmm_row_major_tiles(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
                          V beta, out_columns<V, gpu> Y) {
    const std::int64_t chunks = std::int64_t(A.chunks.len) - A.segment_chunks;
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        const vector_lanes along = lanes_along(count, width, 2, 5);
        const auto multiply = [&]<value_encoding C>() {
            launch<row_major_tiles_kernel<C, width, V>>(
                on, blocks_for(chunks * along.spans, warps_per_block), threads_per_block, A, along,
                alpha, x, beta, y);
        };
        // Only values of no table are stored in tiles.
        if (sizeof(V) > sizeof(float) && A.encoding == value_encoding::float32)
            return multiply.template operator()<value_encoding::float32>();
        multiply.template operator()<value_encoding::none>();
    });
}

template void spmm_row_major_tiles(gpu, float, const packed<float, device_view>&,
                                   in_columns<float, gpu>, float, out_columns<float, gpu>);
template void spmm_row_major_tiles(gpu, double, const packed<double, device_view>&,
                                   in_columns<double, gpu>, double, out_columns<double, gpu>);

}  // namespace nz
