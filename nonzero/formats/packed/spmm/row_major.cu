// packed.warp with several vectors by rows: one to eight warps a chunk and a span of vectors.
#include "nonzero/formats/packed/spmm/long_rows.cuh"
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmm/slots.cuh"

namespace nz {
namespace {

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
        return store_segments(c, lane, sum[0], alpha, beta, Y, of_threads, of_blocks, blockIdx.x,
                              blockIdx.y);
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

/// Whether rows have eight slots or more each in the mean. X is then loaded too often for L1 and
/// L2 to keep what is live of it, unless spans are narrow.
template <class V>
bool has_long_rows(const packed<V, device_view>& A) {
    return std::int64_t(A.chunks.len) * warp_size >= 8 * std::int64_t(A.shape.rows);
}

/// Four slots a group; where these are too few warps to fill the machine, two. A span is at most
/// so wide that a chunk is one block's, or two warps'.
template <class V>
row_plan plan_rows(const packed<V, device_view>& A, int count, int width) {
    const int log_most_warps = has_long_rows(A) ? 1 : 3;
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
    const auto of_blocks = row_sums_in<V>(on.scratch, blocks);
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

/// Bytes of a row of X from which chunks are decoded into shared memory. With 128 that gains
/// nothing in the mean.
constexpr std::size_t row_to_stage = 256;

template <class V>
bool suits_staging(const packed<V, device_view>& A, const in_columns<V, gpu>& X,
                   const out_columns<V, gpu>& Y) {
    constexpr int width = 16 / sizeof(V);
    if (A.tiles > 0 || has_long_rows(A)) return false;
    if (std::size_t(Y.count) * sizeof(V) < row_to_stage || Y.count % width != 0) return false;
    return is_wide<const V>({X.values.data(), X.row_stride(), X.vector_stride(), true}, width) &&
           is_wide<V>({Y.values.data(), Y.row_stride(), Y.vector_stride(), true}, width);
}

}  // namespace

template <class V>
void spmm_row_major(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X, V beta,
                    out_columns<V, gpu> Y) {
    if (suits_staging(A, X, Y)) return spmm_row_major_staged(on, alpha, A, X, beta, Y);
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        launch_rows<width>(on, alpha, A, x, beta, y, count);
    });
    if (A.tiles > 0) spmm_row_major_tiles(on, alpha, A, X, beta, Y);
}

template <class V>
requires(!is_complex<V>) bool relax(gpu on, packed_warp,
                                    const typename linear_operator<V, gpu>::relaxation& how,
                                    const packed<V, device_view>& A, in_columns<V, gpu> X,
                                    out_columns<V, gpu> Y) {
    if (X.count == 1) {
        relax_vector<V>(on, how, A, X.values, Y.values);
        return true;
    }
    const in_columns<V, gpu> b{how.b, X.stride, X.count, X.order};
    if (A.segment_chunks > 0 || !suits_staging(A, X, Y) || !suits_staging(A, b, Y)) return false;
    relax_row_major_staged(on, how, A, X, Y);
    return true;
}

template bool relax(gpu, packed_warp, const linear_operator<float, gpu>::relaxation&,
                    const packed<float, device_view>&, in_columns<float, gpu>,
                    out_columns<float, gpu>);
template bool relax(gpu, packed_warp, const linear_operator<double, gpu>::relaxation&,
                    const packed<double, device_view>&, in_columns<double, gpu>,
                    out_columns<double, gpu>);
template void spmm_row_major(gpu, float, const packed<float, device_view>&, in_columns<float, gpu>,
                             float, out_columns<float, gpu>);
template void spmm_row_major(gpu, double, const packed<double, device_view>&,
                             in_columns<double, gpu>, double, out_columns<double, gpu>);

}  // namespace nz
