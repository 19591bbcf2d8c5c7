// packed.warp with many vectors by rows: a team of threads a chunk and a span of vectors.
#include "nonzero/formats/packed/spmm/long_rows.cuh"
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmm/slots.cuh"
#include "nonzero/formats/packed/spmm/staged.cuh"

namespace nz {
namespace {

/// Slots that a group takes at once of a segment, and the lanes along the vectors there.
constexpr int segment_slots = 2;
constexpr int log_segment_lanes = 3;

/// A launch: blocks of segments, then blocks of whole rows, span by span each.
struct staged_grid {
    vector_lanes along, of_segments;
    unsigned segment_blocks, whole_blocks;

    [[nodiscard]] unsigned blocks() const {
        return segment_blocks * of_segments.spans + whole_blocks * along.spans;
    }
};

/// The shared memory of a block: of its teams, or of its warps, which have a segment each.
template <int width, class team, class V>
union staged_memory {
    union of_team {
        staged_entries<V> entries;
        staged_diagonals diagonals;
        typename staged_lane<width, team, V>::sums of_threads[team::size];
    } of_team[team::in_block];
    neighbours<width, V> of_threads[team::size * team::in_block];
};

/// A warp a segment, for a span of vectors.
template <value_encoding C, int width, class V>
__device__ void multiply_segments(const packed<V, device_view>& A, const staged_grid& grid, V alpha,
                                  const strided_vectors<const V>& X, V beta,
                                  const strided_vectors<V>& Y, row_sums<V> of_blocks,
                                  neighbours<width, V>* of_threads) {
    const unsigned block = blockIdx.x % grid.segment_blocks,
                   span = blockIdx.x / grid.segment_blocks;
    const packed_chunk c =
        load_chunk(A.chunks.ptr + block * warps_per_block + threadIdx.x / warp_size);
    lane_of_vectors<width, V> lane(grid.of_segments, span, X);
    const chunk_parts<segment_slots> parts{lane.log_groups()};
    neighbours<width, V> sum[segment_slots]{};
    for (int part = 0; part < parts.all(); ++part)
        add_slots<C>(A, c, parts.slot(part, lane.group), lane, sum);
    add_neighbours(5, sum);
    lane.add_groups(lane.log_groups(), sum[0]);
    store_segments(c, lane, sum[0], alpha, beta, Y, of_threads, of_blocks, block, span);
}

/// Diagonals of one value each are not decoded: all rows of the chunk have the same.
template <int width, class team, class End, class V>
__device__ void multiply_diagonals(const packed<V, device_view>& A, const packed_chunk& c,
                                   const staged_lane<width, team, V>& lane, const End& end,
                                   const strided_vectors<V>& Y, const int4* diagonal) {
    for (int r = lane.group; r < int(c.rows); r += team::size >> lane.log_lanes) {
        typename staged_lane<width, team, V>::sums sum{};
        const index row = c.first_row + r;
        lane.add(
            int(c.width),
            [&](int k) { return (diagonal[k].y >> r & 1) != 0 ? row + diagonal[k].x : -1; },
            [&](int k) { return value_of(diagonal[k], V()); }, sum);
        lane.store(Y, row, sum, end);
    }
}

/// More diagonals than there is room for. A call, as within the kernel it would take registers from
/// the others.
template <int width, class team, class End, class V>
__device__ __noinline__ void multiply_many_diagonals(
    const packed<V, device_view>& A, const packed_chunk& c, const vector_lanes& along,
    unsigned span, const End& end, const strided_vectors<const V>& X, const strided_vectors<V>& Y,
    const int4* diagonal) {
    staged_lane<width, team, V> lane(along, span, X);
    lane.x = wait_for_previous(lane.x);
    multiply_diagonals(A, c, lane, end, Y, diagonal);
}

/// The rows of a chunk whose entries are all staged.
template <int width, class team, class End, class V>
__device__ void multiply_at_once(const packed<V, device_view>& A, const packed_chunk& c,
                                 const staged_lane<width, team, V>& lane, const End& end,
                                 const strided_vectors<V>& Y,
                                 typename staged_memory<width, team, V>::of_team& memory) {
    const staged_part all{0, 5, 0, int(c.width)};
    const group_share share(team::log_size - lane.log_lanes, c.log_lanes);
    typename staged_lane<width, team, V>::sums sum{};
    const auto add = [&](int r) {
        const int first = (r << c.log_lanes) + share.first_slot(lane.group);
        lane.add_slots(memory.entries, all, first, first + share.slots, sum);
    };
    int r = share.row(lane.group);
    if (share.log_split == 0) {
        for (; r < int(c.rows); r += 1 << share.log_rows, sum = {}) {
            add(r);
            lane.store(Y, row_of(c, A.perm.ptr, r), sum, end);
        }
        return;
    }
    if (r < int(c.rows)) add(r);
    lane.add_groups(share.log_split, sum, memory.of_threads);
    if (share.first_slot(lane.group) == 0 && r < int(c.rows))
        lane.store(Y, row_of(c, A.perm.ptr, r), sum, end);
}

/// The rows of a wider chunk: as many at once as there are groups for, part by part. A call, too.
template <value_encoding C, int width, class team, class End, class V>
__device__ __noinline__ void multiply_by_parts(
    const packed<V, device_view>& A, const packed_chunk& c, const vector_lanes& along,
    unsigned span, const End& end, const strided_vectors<const V>& X, const strided_vectors<V>& Y,
    typename staged_memory<width, team, V>::of_team& memory) {
    staged_lane<width, team, V> lane(along, span, X);
    lane.x = wait_for_previous(lane.x);
    const group_share share(team::log_size - lane.log_lanes, c.log_lanes);
    const int log_slots = share.log_rows + c.log_lanes;
    const int at_once = (staged_entries<V>::room >> log_slots) - 1;
    const int r = share.row(lane.group);
    const int first = (r << c.log_lanes) + share.first_slot(lane.group);
    for (int slot = 0; slot < warp_size; slot += 1 << log_slots) {
        typename staged_lane<width, team, V>::sums sum{};
        for (int from = 0; from < int(c.width); from += at_once) {
            const staged_part part{slot, log_slots, from, min(int(c.width) - from, at_once)};
            team::meet();
            stage<C, team>(A, c, part, memory.entries);
            team::meet();
            lane.add_slots(memory.entries, part, first, first + share.slots, sum);
        }
        if (share.log_split > 0) lane.add_groups(share.log_split, sum, memory.of_threads);
        const int row = (slot >> c.log_lanes) + r;
        if (share.first_slot(lane.group) == 0 && row < int(c.rows))
            lane.store(Y, row_of(c, A.perm.ptr, row), sum, end);
    }
}

/// Threads of a block, and blocks on a multiprocessor by 64 registers a thread. Segments take a
/// warp each of packed_block, two teams.
template <bool segments>
using team_of = team<segments ? 2 : 1>;
template <bool segments>
constexpr int threads_of = team_of<segments>::size* team_of<segments>::in_block;
static_assert(threads_of<true> == threads_per_block);
constexpr int resident_staged(bool segments) { return segments ? 4 : 8; }

template <value_encoding C, int width, bool segments, class End, class V>
__global__ void __launch_bounds__(threads_of<segments>, resident_staged(segments))
    staged_kernel(const __grid_constant__ packed<V, device_view> A,
                  const __grid_constant__ staged_grid grid, const __grid_constant__ End end,
                  const __grid_constant__ strided_vectors<const V> X,
                  const __grid_constant__ strided_vectors<V> Y, row_sums<V> of_blocks) {
    using team = team_of<segments>;
    __shared__ staged_memory<width, team, V> shared;
    const unsigned of_segments = segments ? grid.segment_blocks * grid.of_segments.spans : 0;
    if constexpr (segments)
        if (blockIdx.x < of_segments)
            return multiply_segments<C>(A, grid, end.alpha, X, end.beta, Y, of_blocks,
                                        shared.of_threads);
    const unsigned block = blockIdx.x - of_segments, span = block / grid.whole_blocks;
    const unsigned number = unsigned(A.segment_chunks) +
                            block % grid.whole_blocks * team::in_block + unsigned(team::number());
    if (number >= A.chunks.len) return;
    const packed_chunk* const chunk = A.chunks.ptr + number;
    auto& memory = shared.of_team[team::number()];
    bool by_diagonals = false;
    {
        const packed_chunk c = load_chunk(chunk);
        const staged_part all{0, 5, 0, int(c.width)};
        by_diagonals = c.kind == packed_chunk::constant_diagonals;
        if (by_diagonals) {
            const auto* const from = reinterpret_cast<const int4*>(
                A.indices.ptr + std::size_t(c.index_at) * packed_index_unit);
            if (all.width > staged_diagonals::room)
                return multiply_many_diagonals<width, team>(A, *chunk, grid.along, span, end, X, Y,
                                                            from);
            for (int k = team::thread(); k < all.width; k += team::size)
                memory.diagonals.diagonal[k] = __ldg(from + k);
        } else {
            if (all.stride() * warp_size > staged_entries<V>::room)
                return multiply_by_parts<C, width, team>(A, *chunk, grid.along, span, end, X, Y,
                                                         memory);
            stage<C, team>(A, c, all, memory.entries);
        }
    }
    team::meet();
    const packed_chunk& c = *chunk;  // read again, for want of registers
    staged_lane<width, team, V> lane(grid.along, span, X);
    lane.x = wait_for_previous(lane.x);
    if (by_diagonals) return multiply_diagonals(A, c, lane, end, Y, memory.diagonals.diagonal);
    multiply_at_once<width, team>(A, c, lane, end, Y, memory);
}

/// Lanes of a group at most: spans of 64 doubles. With 128, X of neighbouring planes of a grid no
/// longer fits in L2 (atmosmodd_like 1,410 us instead of 1,150), though xenon1 gains a tenth.
constexpr int log_most_lanes = 4;

template <int width, bool segments, class End, class V>
void launch_staged(gpu on, const packed<V, device_view>& A, const strided_vectors<const V>& X,
                   const strided_vectors<V>& Y, int count, const End& end) {
    using team = team_of<segments>;
    const std::int64_t cut = A.segment_chunks, whole = std::int64_t(A.chunks.len) - cut;
    // A chunk has 32 slots, so that there are 32 groups at most.
    const staged_grid grid{
        lanes_along(count, width * staged_loads, team::log_size - 5, log_most_lanes),
        lanes_along(count, width, 2, log_segment_lanes), unsigned(cut / warps_per_block),
        unsigned((whole + team::in_block - 1) / team::in_block)};
    if (grid.blocks() == 0) return;
    const auto of_blocks = row_sums_in<V>(on.scratch, grid.segment_blocks);
    with_encoding<V>(A.encoding, [&]<value_encoding C>() {
        launch<staged_kernel<C, width, segments, End, V>>(on, grid.blocks(), threads_of<segments>,
                                                          A, grid, end, X, Y, of_blocks);
    });
}

}  // namespace

template <class V>
void spmm_row_major_staged(gpu on, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
                           V beta, out_columns<V, gpu> Y) {
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        if constexpr (width > 1) {
            const scaled_end<width, V> end{alpha, beta};
            if (A.segment_chunks == 0) return launch_staged<width, false>(on, A, x, y, count, end);
            launch_staged<width, true>(on, A, x, y, count, end);
        }
    });
}

template <class V>
void relax_row_major_staged(gpu on, const typename linear_operator<V, gpu>::relaxation& how,
                            const packed<V, device_view>& A, in_columns<V, gpu> X,
                            out_columns<V, gpu> Y) {
    std::size_t before = 0;
    with_row_vectors(X, Y, [&]<int width>(const auto& x, const auto& y, int count) {
        if constexpr (width > 1) {
            const V* const w = how.w.size() > 0 ? how.w.data() : nullptr;
            launch_staged<width, false>(
                on, A, x, y, count,
                relaxed_end<width, V>{how.keep, how.momentum, how.step, w, how.b.data() + before,
                                      x.first, x.row_stride});
            before += std::size_t(count);
        }
    });
}

#define NZ_INSTANTIATE(V)                                                                          \
    template void spmm_row_major_staged(gpu, V, const packed<V, device_view>&, in_columns<V, gpu>, \
                                        V, out_columns<V, gpu>);                                   \
    template void relax_row_major_staged(gpu, const typename linear_operator<V, gpu>::relaxation&, \
                                         const packed<V, device_view>&, in_columns<V, gpu>,        \
                                         out_columns<V, gpu>);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
