// How a warp of a GPU multiplies two or four chunks at once whose diagonals are equal: every lane
// has a row of each, and needs a diagonal's offset and value once for all of them.
#pragma once

#include <type_traits>

#include "nonzero/formats/packed/spmv/lanes.cuh"

namespace nz {
namespace {

/// Diagonals of `count` chunks that a lane loads before it uses the first.
template <int count>
constexpr int diagonals_in_flight = count == 4 ? 1 : 2;

/// Four chunks, and two with values of their own, are faster with 48 registers a thread than with
/// 64; two with values from a table are slower.
template <value_encoding C, int count>
constexpr int resident_blocks_identical = at_most_resident(count == 2 && C < value_encoding::float32
                                                               ? 4
                                                               : 5);

/// Adds a lane's rows of a chunk and of those behind it with identical offsets. x: from the lane's
/// first row on; at: the place of its first value.
template <int count, bool constant, class D, class V>
__device__ void add_identical_offsets(const std::uint32_t* __restrict__ code, int width, D value,
                                      std::size_t at, const V* x, unsigned bit, V (&sum)[count]) {
    constexpr int in_flight = diagonals_in_flight<count>, words = constant ? 4 : 2;
    using diagonal = std::conditional_t<constant, int4, int2>;
    const int chunk_words = (words * width + 15) / 16 * 16;  // filled up with diagonals of no rows
    for (int k = 0; k < width; k += in_flight) {
        diagonal d[in_flight];
        unsigned rows[in_flight][count];
        V v[in_flight][count], xj[in_flight][count];
#pragma unroll
        for (int u = 0; u < in_flight; ++u) {
            d[u] = __ldg(reinterpret_cast<const diagonal*>(code) + k + u);
            rows[u][0] = unsigned(d[u].y);
#pragma unroll
            for (int g = 1; g < count; ++g)
                rows[u][g] = __ldg(code + g * chunk_words + words * (k + u) + 1);
        }
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
#pragma unroll
            for (int g = 0; g < count; ++g) {
                if constexpr (constant) {
                    v[u][g] = value_of(d[u], V());
                } else {
                    v[u][g] = k + u < width ? value[at + (g * width + k + u) * warp_size] : V(0);
                }
            }
        if (k == 0) x = wait_for_previous(x);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
#pragma unroll
            for (int g = 0; g < count; ++g)
                xj[u][g] = (rows[u][g] & bit) != 0 ? gather(x + d[u].x + g * warp_size) : V(0);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
#pragma unroll
            for (int g = 0; g < count; ++g)
                if ((rows[u][g] & bit) != 0) sum[g] += v[u][g] * xj[u][g];
    }
}

/// A warp for every `count` chunks, of a matrix without segments: at once where their offsets are
/// identical, else one after the other.
template <value_encoding C, int count, bool streams, class End, class V>
__device__ void multiply_identical(const packed<V, device_view>& A, const V* x, End& end,
                                   V* __restrict__ y) {
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    const unsigned first = (blockIdx.x * warps_per_block + unsigned(warp)) * count;
    if (first >= A.chunks.len) return;
    const packed_chunk c = load_chunk(A.chunks.ptr + first);
    const device_decoder<C, streams, V> value(A);
    constexpr bool constant = C < value_encoding::float32;
    if (c.identical >= count &&
        c.kind == (constant ? packed_chunk::constant_diagonals : packed_chunk::diagonals)) {
        const index row = c.first_row + lane;
        V sum[count] = {};
        add_identical_offsets<count, constant>(
            A.indices.ptr + std::size_t(c.index_at) * packed_index_unit, int(c.width), value,
            std::size_t(c.val_at) * warp_size + unsigned(lane), x + row, 1U << lane, sum);
#pragma unroll
        for (int g = 0; g < count; ++g) {
            const index i = row + g * warp_size;
            end(y + i, i, sum[g]);
        }
        return;
    }
    const unsigned last = min(first + count, unsigned(A.chunks.len));
    for (unsigned k = first; k < last; ++k)
        multiply_chunk(A, load_chunk(A.chunks.ptr + k), value, x, end, y, lane);
}

}  // namespace
}  // namespace nz
