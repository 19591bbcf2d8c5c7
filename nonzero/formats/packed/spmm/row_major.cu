// packed.warp with several vectors by rows: one to eight warps a chunk and a span of vectors.
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmm/slots.cuh"

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

/// Adds up a row's segments, of which this warp has one and the block's other warps have others,
/// and stores the row of Y, for one span: as for one vector.
template <int width, class V>
__device__ void store_segments(const packed_chunk& c, const lane_of_vectors<width, V>& lane,
                               neighbours<width, V> sum, V alpha, V beta,
                               const strided_vectors<V>& Y, neighbours<width, V>* of_threads,
                               row_sums<V> of_blocks) {
    const int warp = int(threadIdx.x) / warp_size;
    const bool mine = lane.group == 0 && lane.active;
    if (mine) of_threads[threadIdx.x] = sum;
    __syncthreads();
    // The first warp of a row within this block adds its segments.
    if (c.segments == 0 || (c.number > 0 && warp > 0)) return;
    const int here = min(c.segments - c.number, warps_per_block - warp);
    if (mine)
        for (int p = 1; p < here; ++p) sum.add(of_threads[int(threadIdx.x) + p * warp_size]);
    if (here == c.segments) {
        if (mine) lane.store(Y, c.first_row, alpha, sum, beta);
        return;
    }
    const unsigned block = blockIdx.x, first = block - unsigned(c.number / warps_per_block);
    const int blocks = (c.segments + warps_per_block - 1) / warps_per_block;
    V* const sums = of_blocks.sum + lane.vector;
    unsigned* const arrived = of_blocks.arrived + first * row_sums<V>::counters + blockIdx.y;
    if (mine)
#pragma unroll
        for (int w = 0; w < width; ++w)
            sums[std::size_t(block) * packed_row_vectors + w] = sum.of[w];
    if (!leaves_last(arrived, blocks, lane_id())) return;
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

/// With 80 registers a thread its four loads of X are in flight together; with 64, two, which more
/// warps do not make good on graphs (docs/decisions/several-vectors.md).
constexpr int resident_row_blocks = 3;

/// Share of one warp: some parts of a chunk, for a span of vectors.
struct warp_share {
    unsigned chunk;
    int part, parts;
};

/// A block of segments has a warp a segment. Whole rows have 2^log_warps of them a chunk.
template <class V>
__device__ warp_share share_of_warp(const packed<V, device_view>& A, const vector_lanes& along) {
    const unsigned warp = threadIdx.x / warp_size;
    const unsigned blocks = unsigned(A.segment_chunks) / warps_per_block;
    if (blockIdx.x < blocks) return {blockIdx.x * warps_per_block + warp, 0, 1 << along.log_warps};
    const unsigned share = (blockIdx.x - blocks) * warps_per_block + warp;
    return {unsigned(A.segment_chunks) + (share >> along.log_warps),
            int(warp) & ((1 << along.log_warps) - 1), 1};
}

template <value_encoding C, int width, int slots, class V>
__global__ void __launch_bounds__(threads_per_block, resident_row_blocks)
    row_major_kernel(packed<V, device_view> A, vector_lanes along, V alpha,
                     strided_vectors<const V> X, V beta, strided_vectors<V> Y,
                     row_sums<V> of_blocks) {
    __shared__ neighbours<width, V> of_threads[threads_per_block];
    const warp_share mine = share_of_warp(A, along);
    lane_of_vectors<width, V> lane(along, blockIdx.y, X);
    const chunk_parts<slots> parts{lane.log_groups()};
    neighbours<width, V> sum[slots]{};
    // Warps beyond the last chunk multiply it too, as all must meet below; they store nothing.
    const packed_chunk* const chunk = A.chunks.ptr + min(mine.chunk, unsigned(A.chunks.len) - 1);
    {
        const packed_chunk c = load_chunk(chunk);
        for (int part = mine.part; part < mine.part + mine.parts; ++part)
            add_slots<C>(A, c, parts.slot(part, lane.group), lane, sum);
    }
    const packed_chunk& c = *chunk;  // read again, for want of registers
    if (mine.chunk < unsigned(A.segment_chunks)) {
        add_neighbours(5, sum);
        lane.add_groups(lane.log_groups(), sum[0]);
        return store_segments(c, lane, sum[0], alpha, beta, Y, of_threads, of_blocks);
    }
    add_neighbours(c.log_lanes, sum);
    lane.add_groups(parts.log_groups_of_row(c.log_lanes), sum[0]);
    if (along.log_warps > 0) {  // a row may have several warps: the first adds the others' sums
        const int warps = parts.of_row(c.log_lanes);
        if (warps > 1) of_threads[threadIdx.x] = sum[0];
        __syncthreads();
        if (warps > 1 && mine.part % warps == 0)
            for (int w = 1; w < warps; ++w) sum[0].add(of_threads[threadIdx.x + w * warp_size]);
    }
    if (mine.chunk < A.chunks.len)
        store_slots(A, c, parts.slot(mine.part, lane.group), lane, sum, alpha, beta, Y);
}

/// Warps that fill the machine: 32 on each multiprocessor of an H200.
constexpr std::int64_t enough_warps = 4096;

/// The lanes along the vectors, and the number of neighbouring slots that a group takes.
struct row_plan {
    vector_lanes along;
    int slots;
};

/// Four slots a group; where these are too few warps to fill the machine, two. A span is at most
/// so wide that a chunk is one block's.
template <class V>
row_plan plan_rows(const packed<V, device_view>& A, int count, int width) {
    constexpr int log_most_warps = 3;
    static_assert(1 << log_most_warps == warps_per_block);
    const auto plan_slots = [&](int log_slots) {
        vector_lanes along{count, log_slots, 0, 1};
        while (along.log_warps < log_most_warps && width << along.log_lanes < count)
            ++along.log_lanes, ++along.log_warps;
        along.spans = unsigned((count - 1) / (width << along.log_lanes) + 1);
        return row_plan{along, 1 << log_slots};
    };
    const std::int64_t segments = A.segment_chunks, whole = std::int64_t(A.chunks.len) - segments;
    const row_plan four = plan_slots(2);
    const std::int64_t warps = (segments + (whole << four.along.log_warps)) * four.along.spans;
    return warps >= enough_warps ? four : plan_slots(1);
}

template <int width, class V>
void launch_rows(gpu on, V alpha, const packed<V, device_view>& A,
                 const strided_vectors<const V>& X, V beta, const strided_vectors<V>& Y,
                 int count) {
    const std::int64_t segments = A.segment_chunks, blocks = segments / warps_per_block;
    const std::int64_t whole = A.tiles > 0 ? 0 : std::int64_t(A.chunks.len) - segments;
    // Behind what products with one vector leave: a sum and 8 bytes a block.
    V* const sums = reinterpret_cast<V*>(on.scratch.data() +
                                         std::size_t(blocks) * (sizeof(V) + 2 * sizeof(unsigned)));
    const row_sums<V> of_blocks{sums,
                                reinterpret_cast<unsigned*>(sums + blocks * packed_row_vectors)};
    const row_plan plan = plan_rows(A, count, width);
    const vector_lanes& along = plan.along;
    const std::int64_t warps = whole << along.log_warps;
    const dim3 grid(unsigned(blocks + (warps + warps_per_block - 1) / warps_per_block),
                    along.spans);
    if (grid.x == 0) return;
    with_encoding<V>(A.encoding, [&]<value_encoding C>() {
        const auto multiply = [&]<int some>() {
            launch<row_major_kernel<C, width, some, V>>(on, grid, threads_per_block, A, along,
                                                        alpha, X, beta, Y, of_blocks);
        };
        if (plan.slots == 4) return multiply.template operator()<4>();
        multiply.template operator()<2>();
    });
}

}  // namespace

template <class V>
void spmm_row_major(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X, V beta,
                    out_columns<V, gpu> Y) {
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        launch_rows<width>(on, alpha, A, x, beta, y, count);
    });
    if (A.tiles > 0) spmm_row_major_tiles(on, alpha, A, X, beta, Y);
}

template void spmm_row_major(gpu, float, const packed<float, device_view>&, in_columns<float, gpu>,
                             float, out_columns<float, gpu>);
template void spmm_row_major(gpu, double, const packed<double, device_view>&,
                             in_columns<double, gpu>, double, out_columns<double, gpu>);

}  // namespace nz
