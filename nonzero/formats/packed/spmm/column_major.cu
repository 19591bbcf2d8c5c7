// packed.warp with several vectors. Column-major ones: a warp meets the entries of its chunk once
// for eight of them, and the chunk stays in its caches from one eight to the next. Where columns
// lie apart, the vectors are turned to row-major ones first.
#include <bit>

#include "nonzero/core/gpu.hpp"
#include "nonzero/formats/packed/decoder.cuh"
#include "nonzero/formats/packed/segments.cuh"
#include "nonzero/formats/packed/spmm/row_major.hpp"

namespace nz {
namespace {

constexpr int most_vectors = packed_vectors;  ///< vectors that a warp multiplies at once

/// Vectors on the GPU; those beyond the last stand for the last again.
template <class V>
struct vectors {
    V* first;
    std::size_t stride, row_stride;
    int count;
    __device__ V* operator[](int c) const {
        return first + std::size_t(min(c, count - 1)) * stride;
    }
    /// Element i of vector c.
    __device__ V* at(int c, index i) const { return (*this)[c] + std::size_t(i) * row_stride; }
    /// At most `most` of them, from c on.
    vectors from(int c, int most) const {
        return {first + std::size_t(c) * stride, stride, row_stride, std::min(most, count - c)};
    }
};

/// The value of a stored place.
template <value_encoding C, class V>
struct coded_values {
    const std::byte* __restrict__ val;
    const V* __restrict__ table;
    __device__ V operator[](std::size_t at) const {
        if constexpr (C == value_encoding::constant) return __ldg(table);
        return decoded<C>(__ldg(reinterpret_cast<const stored_value<C, V>*>(val) + at), table);
    }
};

/// A lane's sums, one for each of the vectors.
template <int many, class V>
struct sums {
    V of[many];
    __device__ void add(V v, const V* const* x, std::ptrdiff_t j) {
        V xj[many];
#pragma unroll
        for (int c = 0; c < many; ++c) xj[c] = __ldg(x[c] + j);
#pragma unroll
        for (int c = 0; c < many; ++c) of[c] += v * xj[c];
    }
};

/// Entries whose columns and values a lane loads before it uses the first.
constexpr int in_flight = 4;

template <class V>
__device__ V constant_value(int4 d) {
    if constexpr (sizeof(V) == 8) {
        return __hiloint2double(d.w, d.z);
    } else {
        return __int_as_float(d.z);
    }
}

template <class Column, int many, class D, class V>
__device__ void add_listed(const Column* __restrict__ column, int width, D value, std::size_t at,
                           const V* const* x, index base, sums<many, V>& to) {
    constexpr Column padding = Column(-1);
    for (int k = 0; k < width;
         k += in_flight, column += in_flight * warp_size, at += in_flight * warp_size) {
        Column j[in_flight];
        V v[in_flight];
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            j[u] = k + u < width ? __ldg(column + u * warp_size) : padding;
#pragma unroll
        for (int u = 0; u < in_flight; ++u) v[u] = k + u < width ? value[at + u * warp_size] : V(0);
#pragma unroll
        for (int u = 0; u < in_flight; ++u)
            if (j[u] != padding) to.add(v[u], x, base + std::ptrdiff_t(j[u]));
    }
}

/// This lane's share of a chunk.
template <int many, class D, class V>
__device__ sums<many, V> sum_lane(const packed<V, device_view>& A, const packed_chunk& c, D value,
                                  const V* const* x, int lane) {
    sums<many, V> s{};
    const std::uint32_t* const code = A.indices.ptr + std::size_t(c.index_at) * packed_index_unit;
    std::size_t at = std::size_t(c.val_at) * warp_size + unsigned(lane);
    const std::ptrdiff_t row = c.first_row + lane;
    if (c.kind == packed_chunk::constant_diagonals) {
        const int4* d = reinterpret_cast<const int4*>(code);
        for (int k = 0; k < int(c.width); ++k)
            if (const int4 w = __ldg(d + k); (unsigned(w.y) >> lane & 1) != 0)
                s.add(constant_value<V>(w), x, row + w.x);
    } else if (c.kind == packed_chunk::diagonals) {
        const int2* d = reinterpret_cast<const int2*>(code);
        for (int k = 0; k < int(c.width); ++k, at += warp_size)
            if (const int2 w = __ldg(d + k); (unsigned(w.y) >> lane & 1) != 0)
                s.add(value[at], x, row + w.x);
    } else if (c.kind == packed_chunk::delta16) {
        add_listed(reinterpret_cast<const std::uint16_t*>(code) + lane, int(c.width), value, at, x,
                   c.base, s);
    } else {
        add_listed(code + lane, int(c.width), value, at, x, c.base, s);
    }
    return s;
}

/// Columns `first` and on of x.
template <int many, class V>
__device__ void point(const V* (&to)[many], vectors<const V> x, int first) {
#pragma unroll
    for (int c = 0; c < many; ++c) to[c] = x[first + c];
}

/// Chunks of whole rows, from the first behind the segments: a warp each, all vectors.
template <value_encoding C, int many, class V>
__global__ void __launch_bounds__(threads_per_block)
    column_major_kernel(packed<V, device_view> A, V alpha, vectors<const V> x, V beta,
                        vectors<V> y) {
    const unsigned k =
        (blockIdx.x * threads_per_block + threadIdx.x) / warp_size + unsigned(A.segment_chunks);
    const int lane = int(threadIdx.x) % warp_size;
    if (k >= A.chunks.len) return;
    const packed_chunk c = A.chunks.ptr[k];
    const coded_values<C, V> value{A.val.ptr, A.table.ptr};
    const int log = int(c.log_lanes), r = lane >> log;
    const bool stores = r < int(c.rows) && r << log == lane;
    const index i = !stores ? 0 : c.sorted ? A.perm.ptr[c.number + r] : c.first_row + r;
    for (int first = 0; first < x.count; first += many) {
        const V* xs[many];
        point(xs, x, first);
        auto s = sum_lane<many>(A, c, value, xs, lane);
#pragma unroll
        for (int v = 0; v < many; ++v) {
            for (int step = (1 << log) / 2; step > 0; step /= 2)
                s.of[v] += __shfl_down_sync(full_warp, s.of[v], unsigned(step));
            if (stores && first + v < y.count)
                store_scaled(y.at(first + v, i), alpha, s.of[v], beta);
        }
    }
}

/// Where the blocks of one long row leave their sums.
template <class V>
struct segments_scratch {
    V* sum;  ///< most_vectors a block
    unsigned* arrived;
};

/// Chunks of segments of long rows, and at most `most_vectors` vectors: as for one vector.
template <value_encoding C, class V>
__global__ void __launch_bounds__(threads_per_block)
    column_major_segments_kernel(packed<V, device_view> A, V alpha, vectors<const V> x, V beta,
                                 vectors<V> y, segments_scratch<V> scratch) {
    __shared__ V of_warp[warps_per_block][most_vectors];
    const int warp = int(threadIdx.x) / warp_size, lane = int(threadIdx.x) % warp_size;
    const packed_chunk c = A.chunks.ptr[blockIdx.x * warps_per_block + unsigned(warp)];
    const V* xs[most_vectors];
    point(xs, x, 0);
    auto s = sum_lane<most_vectors>(A, c, coded_values<C, V>{A.val.ptr, A.table.ptr}, xs, lane);
#pragma unroll
    for (int v = 0; v < most_vectors; ++v) {
        const V sum = sum_lanes<warp_size>(s.of[v]);
        if (lane == 0) of_warp[warp][v] = sum;
    }
    __syncthreads();
    // The first warp of a row within this block adds its segments; lane v those of vector v.
    if (c.segments == 0 || (c.number > 0 && warp > 0)) return;
    const int here = min(c.segments - c.number, warps_per_block - warp);
    const bool mine = lane < y.count;
    V sum = 0;
    if (mine)
        for (int p = 0; p < here; ++p) sum += of_warp[warp + p][lane];
    if (here == c.segments) {
        if (mine) store_scaled(y.at(lane, c.first_row), alpha, sum, beta);
        return;
    }
    const int first = int(blockIdx.x) - c.number / warps_per_block;
    const int blocks = (c.segments + warps_per_block - 1) / warps_per_block;
    if (mine) scratch.sum[std::size_t(blockIdx.x) * most_vectors + unsigned(lane)] = sum;
    if (!leaves_last(scratch.arrived + first, blocks, lane)) return;
    sum = 0;
    if (mine)
        for (int b = 0; b < blocks; ++b)
            sum += __ldcg(scratch.sum + std::size_t(first + b) * most_vectors + unsigned(lane));
    if (mine) store_scaled(y.at(lane, c.first_row), alpha, sum, beta);
    if (lane == 0) scratch.arrived[first] = 0;  // for the next product
}

template <value_encoding C, class V>
void multiply(gpu on, V alpha, const packed<V, device_view>& A, vectors<const V> x, V beta,
              vectors<V> y) {
    const auto rows = unsigned(A.chunks.len) - unsigned(A.segment_chunks);
    const auto launch = [&](auto kernel) {
        kernel<<<blocks_for(rows, warps_per_block), threads_per_block, 0, stream_of(on)>>>(
            A, alpha, x, beta, y);
    };
    if (rows > 0)
        launch(x.count <= 2   ? column_major_kernel<C, 2, V>
               : x.count <= 4 ? column_major_kernel<C, 4, V>
                              : column_major_kernel<C, most_vectors, V>);
    const unsigned blocks = unsigned(A.segment_chunks) / warps_per_block;
    if (blocks == 0) return;
    // Behind the sums of a product with one vector come its counters, as many unused, our sums.
    std::byte* const counters = on.scratch.data() + blocks * sizeof(V);
    const segments_scratch<V> scratch{
        reinterpret_cast<V*>(counters + 2 * blocks * sizeof(unsigned)),
        reinterpret_cast<unsigned*>(counters)};
    for (int first = 0; first < x.count; first += most_vectors) {
        column_major_segments_kernel<C><<<blocks, threads_per_block, 0, stream_of(on)>>>(
            A, alpha, x.from(first, most_vectors), beta, y.from(first, most_vectors), scratch);
    }
}

/// Vectors that are turned at once: these, or more where they stay in L2.
constexpr int most_turned = 32;
constexpr std::size_t turned_bytes = std::size_t(32) << 20;
constexpr int least_turned = 4;  ///< fewer share too little of a request

template <class V>
in_columns<V, gpu> as_input(const out_columns<V, gpu>& Y) {
    return {Y.values, Y.stride, Y.count, Y.order};
}

/// By way of row-major vectors in on.more_scratch: X's, and behind them Y's.
template <class V>
void multiply_turned(gpu on, V alpha, const packed<V, device_view>& A, const in_columns<V, gpu>& X,
                     V beta, const out_columns<V, gpu>& Y) {
    const auto rows = std::size_t(A.shape.rows), cols = std::size_t(A.shape.cols);
    V* const memory = reinterpret_cast<V*>(on.more_scratch.data());
    const int at_once = int(on.more_scratch.size() / ((rows + cols) * sizeof(V)));
    for (int first = 0; first < Y.count; first += at_once) {
        const int some = std::min(at_once, Y.count - first);
        const auto turned = [&](V* at, std::size_t len) {
            return out_columns<V, gpu>{
                {at, len * std::size_t(some)}, std::size_t(some), some, storage_order::row_major};
        };
        const auto x = turned(memory, cols), y = turned(memory + cols * std::size_t(some), rows);
        const in_columns<V, gpu> of_X{
            {X.values.data() + std::size_t(first) * X.vector_stride(), 0}, X.stride, some, X.order};
        const out_columns<V, gpu> of_Y{
            {Y.values.data() + std::size_t(first) * Y.vector_stride(), 0}, Y.stride, some, Y.order};
        copy_vectors<V>(on, of_X, x, cols);
        if (Y.by_row()) {
            spmm_row_major<V>(on, alpha, A, as_input(x), beta, of_Y);
            continue;
        }
        if (beta != V(0)) copy_vectors<V>(on, as_input(of_Y), y, rows);
        spmm_row_major<V>(on, alpha, A, as_input(x), beta, y);
        copy_vectors<V>(on, as_input(y), of_Y, rows);
    }
}

}  // namespace

template <class V>
std::size_t packed_warp::scratch_for_many(gpu, const packed<V, device_view>& A,
                                          const in_columns<V, gpu>& X) {
    // By the measurements in docs/decisions/several-vectors.md: the segments of long rows take a
    // kernel of their own for every eight column-major vectors. Other matrices gain from many
    // vectors on, where rows are sorted, so that their entries lie apart.
    constexpr int least_without_segments = 16;
    const bool scattered =
        X.count >= least_without_segments && 2 * A.perm.len >= std::size_t(A.shape.rows);
    if (X.by_row() || X.count < least_turned || (A.segment_chunks == 0 && !scattered)) return 0;
    const std::size_t vector = (std::size_t(A.shape.rows) + std::size_t(A.shape.cols)) * sizeof(V);
    const auto in_cache = std::min<std::size_t>(turned_bytes / vector, packed_row_vectors);
    const unsigned most = std::max(std::bit_floor(unsigned(in_cache)), unsigned(most_turned));
    return vector * std::min(std::bit_ceil(unsigned(X.count)), most);
}

template <class V>
void spmv_many(gpu on, packed_warp, V alpha, const packed<V, device_view>& A, in_columns<V, gpu> X,
               V beta, out_columns<V, gpu> Y) {
    if (on.more_scratch.size() > 0) return multiply_turned(on, alpha, A, X, beta, Y);
    if (X.by_row() || A.tiles > 0) return spmm_row_major(on, alpha, A, X, beta, Y);
    const vectors<const V> x{X.values.data(), X.stride, 1, X.count};
    const vectors<V> y{Y.values.data(), Y.vector_stride(), Y.row_stride(), Y.count};
    with_encoding<V>(A.encoding,
                     [&]<value_encoding C>() { multiply<C>(on, alpha, A, x, beta, y); });
}

template void spmv_many(gpu, packed_warp, float, const packed<float, device_view>&,
                        in_columns<float, gpu>, float, out_columns<float, gpu>);
template void spmv_many(gpu, packed_warp, double, const packed<double, device_view>&,
                        in_columns<double, gpu>, double, out_columns<double, gpu>);
template std::size_t packed_warp::scratch_for_many(gpu, const packed<float, device_view>&,
                                                   const in_columns<float, gpu>&);
template std::size_t packed_warp::scratch_for_many(gpu, const packed<double, device_view>&,
                                                   const in_columns<double, gpu>&);

}  // namespace nz
