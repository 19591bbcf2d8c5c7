// A warp of a GPU multiplies one packed chunk: the sums of its lanes, and the rows they go to.
#pragma once

#include "nonzero/core/launch.cuh"
#include "nonzero/formats/packed/decoder.cuh"
#include "nonzero/formats/packed/segments.cuh"
#include "nonzero/formats/row_ends.cuh"

namespace nz {
namespace {

/// Capacity of a multiprocessor: 1024 threads on sm_75, 1536 on sm_86 to 89 and sm_120, 2048 on
/// the others.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
constexpr int most_resident_blocks = 1024 / threads_per_block;
#elif defined(__CUDA_ARCH__) && \
    ((__CUDA_ARCH__ > 800 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ >= 1200)
constexpr int most_resident_blocks = 1536 / threads_per_block;
#else
constexpr int most_resident_blocks = 2048 / threads_per_block;
#endif
constexpr int at_most_resident(int blocks) {
    return blocks < most_resident_blocks ? blocks : most_resident_blocks;
}
/// Warps hide each other's waits, so a matrix that bypasses L1 is multiplied by as many as fit:
/// with 32 registers a thread, 64 to a multiprocessor. A smaller one has few chunks, so its warps
/// take 40 registers and issue more loads before they wait (docs/decisions/packed.md).
template <bool streams>
constexpr int resident_blocks = at_most_resident(streams ? 8 : 6);
/// Loads of one kind that a lane issues before it uses the first. Eight leave registers for fewer
/// warps and are slower (`au.E`, docs/experiments/packed.md).
constexpr int in_flight = 4;

/// The sum of v over the lanes before this one.
__device__ inline int sum_before(int v) {
    int sum = v;
#pragma unroll
    for (int step = 1; step < warp_size; step *= 2) {
        const int before = __shfl_up_sync(full_warp, sum, step);
        if (lane_id() >= step) sum += before;
    }
    return sum - v;
}

__device__ inline double value_of(int4 diagonal, double) {
    return __hiloint2double(diagonal.w, diagonal.z);
}
__device__ inline float value_of(int4 diagonal, float) { return __int_as_float(diagonal.z); }

/// A lane's row of a chunk of constant diagonals. x: from the row's own number on; bit: the lane's.
template <class V>
__device__ V sum_constant_diagonals(const int4* __restrict__ diagonal, int width, const V* x,
                                    unsigned bit) {
    V sum = 0;
    for (int k = 0; k < width; k += in_flight) {
        int4 d[in_flight];
        V xj[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            d[u] = k + u < width ? __ldg(diagonal + k + u) : int4{0, 0, 0, 0};
        if (k == 0) x = wait_for_previous(x);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            xj[u] = (unsigned(d[u].y) & bit) != 0 ? gather(x + d[u].x) : V(0);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            if ((unsigned(d[u].y) & bit) != 0) sum += value_of(d[u], V()) * xj[u];
    }
    return sum;
}

/// The same where every entry has a value of its own, from the place `at` on.
template <class D, class V>
__device__ V sum_diagonals(const int2* __restrict__ diagonal, int width, D value, std::size_t at,
                           const V* x, unsigned bit) {
    V sum = 0;
    if constexpr (D::bypasses_l1) x = wait_for_previous(x);
    for (int left = width; left > 0;
         left -= in_flight, at += in_flight * warp_size, diagonal += in_flight) {
        int2 d[in_flight];
        V v[in_flight], xj[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) d[u] = u < left ? __ldg(diagonal + u) : int2{0, 0};
#pragma unroll
        for (int u = 0; u < in_flight; ++u) v[u] = u < left ? value[at + u * warp_size] : V(0);
        if (!D::bypasses_l1 && left == width) x = wait_for_previous(x);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            xj[u] = (unsigned(d[u].y) & bit) != 0 ? gather(x + d[u].x) : V(0);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            if (D::adds_padding || (unsigned(d[u].y) & bit) != 0) sum += v[u] * xj[u];
    }
    return sum;
}

/// A lane's entries of a chunk of deltas. x: from the chunk's base on; column: the lane's first.
///
/// Of a matrix that bypasses L1, values are loaded only where there is an entry, and the zeros of
/// padding are added: this takes the fewest registers and instructions. Of a smaller one, values
/// are loaded before the columns are known, and both before the wait for the previous kernel.
template <int in_flight, class Column, class D, class V>
__device__ V sum_listed(const Column* __restrict__ column, int width, D value, std::size_t at,
                        const V* x) {
    constexpr Column padding = Column(-1);
    constexpr bool by_entry = D::bypasses_l1;
    V sum = 0;
    if constexpr (by_entry) x = wait_for_previous(x);
    for (int left = width; left > 0;
         left -= in_flight, at += in_flight * warp_size, column += in_flight * warp_size) {
        Column j[in_flight];
        V v[in_flight], xj[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            j[u] = u < left ? load<D::bypasses_l1>(column + u * warp_size) : padding;
        if constexpr (!by_entry) {
#pragma unroll
            for (int u = 0; u < in_flight; ++u) v[u] = u < left ? value[at + u * warp_size] : V(0);
            if (left == width) x = wait_for_previous(x);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            xj[u] = j[u] != padding ? gather(x + j[u]) : V(0);
            if constexpr (by_entry) v[u] = j[u] != padding ? value[at + u * warp_size] : V(0);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            if (by_entry || j[u] != padding) sum += v[u] * xj[u];
    }
    return sum;
}

__device__ inline packed_chunk load_chunk(const packed_chunk* at) {
    packed_chunk c;
    int4* const halves = reinterpret_cast<int4*>(&c);
    halves[0] = __ldg(reinterpret_cast<const int4*>(at));
    halves[1] = __ldg(reinterpret_cast<const int4*>(at) + 1);
    return c;
}

/// This lane's share of a chunk of listed columns. loads: as in_flight.
template <int loads = in_flight, class D, class V>
__device__ V sum_columns(const packed<V, device_view>& A, const packed_chunk& c, D value,
                         const V* x, int lane) {
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane);
    if (c.kind == packed_chunk::delta16)
        return sum_listed<loads>(reinterpret_cast<const std::uint16_t*>(code) + lane, int(c.width),
                                 value, at, x + c.base);
    return sum_listed<loads>(code + lane, int(c.width), value, at, x + c.base);
}

/// This lane's share of any chunk.
template <class D, class V>
__device__ V sum_lane(const packed<V, device_view>& A, const packed_chunk& c, D value, const V* x,
                      int lane) {
    if (c.kind >= packed_chunk::delta16) return sum_columns(A, c, value, x, lane);
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    const V* const x_of_row = x + c.first_row + lane;
    if (c.kind == packed_chunk::constant_diagonals)
        return sum_constant_diagonals(reinterpret_cast<const int4*>(code), int(c.width), x_of_row,
                                      1U << lane);
    return sum_diagonals(reinterpret_cast<const int2*>(code), int(c.width), value,
                         std::size_t(c.val_at) * warp_size + unsigned(lane), x_of_row, 1U << lane);
}

/// The row whose sum this lane stores, or -1. Kernels call this before they sum: where rows are
/// sorted it is a load, whose latency the sum then hides, and fewer fields of c stay in registers.
template <class V>
__device__ index row_of_lane(const packed<V, device_view>& A, const packed_chunk& c, int lane) {
    const int r = lane >> c.log_lanes;
    if (r >= int(c.rows) || r << c.log_lanes != lane) return -1;
    return c.sorted ? __ldg(A.perm.ptr + c.number + r) : c.first_row + r;
}

/// `sum` of every lane to the chunk's rows of y, each from its own lanes. By the whole warp. row:
/// of row_of_lane.
template <class End, class V>
__device__ void store_rows(const packed_chunk& c, V sum, index row, End& end, V* __restrict__ y) {
    for (int step = (1 << c.log_lanes) / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(full_warp, sum, unsigned(step));
    if (row < 0) return;
    if (c.width == 0) wait_for_previous();  // no loop has
    end(y + row, row, sum);
}

/// The chunk's rows of the product to y. By the whole warp.
template <class D, class End, class V>
__device__ void multiply_chunk(const packed<V, device_view>& A, const packed_chunk& c, D value,
                               const V* x, End& end, V* __restrict__ y, int lane) {
    const index row = row_of_lane(A, c, lane);
    store_rows(c, sum_lane(A, c, value, x, lane), row, end, y);
}

}  // namespace
}  // namespace nz
