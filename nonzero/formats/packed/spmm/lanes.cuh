// SpMM, row-major X: the lanes of a warp run along the vectors, so that an entry takes one load of
// neighbouring elements of X.
#pragma once

#include <limits>
#include <type_traits>

#include "nonzero/formats/packed/spmv/lanes.cuh"

namespace nz {
namespace {

/// An array of vectors on the GPU, in either order.
template <class V>
struct strided_vectors {
    V* first;
    std::size_t row_stride, vector_stride;
    bool wide;  ///< of Y: a lane may move its elements at once
};

/// The lanes along the vectors: groups of 2^log_lanes take a span of `width` vectors a lane.
struct vector_lanes {
    int count;       ///< vectors
    int log_lanes;   ///< log2 of the lanes of a group
    int log_warps;   ///< log2 of the warps that share a chunk and a span
    unsigned spans;  ///< of vectors
};

/// Groups of 2^least lanes, or of up to 2^most where the vectors need them, `width` vectors a lane.
inline vector_lanes lanes_along(int count, int width, int least, int most) {
    vector_lanes along{count, least, 0, 1};
    while (along.log_lanes < most && width << along.log_lanes < count) ++along.log_lanes;
    along.spans = unsigned((count - 1) / (width << along.log_lanes) + 1);
    return along;
}

/// n neighbours in memory, moved at once.
template <int n, class T>
struct alignas(n * sizeof(T)) neighbours {
    T of[n];
    __device__ void add(const neighbours& more) {
#pragma unroll
        for (int i = 0; i < n; ++i) of[i] += more.of[i];
    }
    __device__ void add(T factor, const neighbours& more) {
#pragma unroll
        for (int i = 0; i < n; ++i) of[i] += factor * more.of[i];
    }
};

/// The matrix's row that is the r-th of a chunk.
__device__ inline index row_of(const packed_chunk& c, const index* perm, int r) {
    return c.sorted ? __ldg(perm + c.number + r) : c.first_row + r;
}

/// j rows behind `from`, each of `bytes`: one instruction, where 64-bit strides would take five.
template <class T>
__device__ T* rows_behind(T* from, index j, std::int32_t bytes) {
    T* to = nullptr;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(to) : "r"(j), "r"(bytes), "l"(from));
    return to;
}

/// A lane's vectors: `width` of them, from `vector` on. More than one only of a row-major X.
template <int width, class V>
struct lane_of_vectors {
    using elements = neighbours<width, V>;
    using stride = std::conditional_t<width == 1, std::int64_t, std::int32_t>;
    int log_lanes, group, vector;
    bool active;  ///< there are such vectors; a lane without loads what the group's first lane does
    const V* x;   ///< its vector's first element
    stride row_stride;  ///< in bytes, where it has 32 bits

    __device__ lane_of_vectors(const vector_lanes& along, unsigned span,
                               const strided_vectors<const V>& X)
        : log_lanes(along.log_lanes),
          group(lane_id() >> log_lanes),
          row_stride(stride(X.row_stride * (width == 1 ? 1 : sizeof(V)))) {
        const int first = (int(span) << log_lanes) * width;
        vector = first + (lane_id() & ((1 << log_lanes) - 1)) * width;
        active = vector < along.count;
        x = X.first + std::size_t(active ? vector : first) * X.vector_stride;
    }

    [[nodiscard]] __device__ int log_groups() const { return 5 - log_lanes; }

    /// The lane's elements of the row that is j rows behind `from`.
    [[nodiscard]] __device__ const elements* row(const elements* from, index j) const {
        if constexpr (width == 1) return from + std::int64_t(j) * row_stride;
        if constexpr (width > 1) return rows_behind(from, j, row_stride);
    }
    [[nodiscard]] __device__ const elements* row(index j) const {
        return row(reinterpret_cast<const elements*>(x), j);
    }

    /// The sum over 2^log_parts neighbouring groups, in all of them; a fixed tree.
    __device__ void add_groups(int log_parts, elements& sum) const {
        for (int p = 0; p < log_parts; ++p)
#pragma unroll
            for (int w = 0; w < width; ++w)
                sum.of[w] += __shfl_xor_sync(full_warp, sum.of[w], 1 << (log_lanes + p));
    }

    /// Row i of Y, for this lane's vectors.
    __device__ void store(const strided_vectors<V>& Y, index i, V alpha, const elements& sum,
                          V beta) const {
        V* const vectors = Y.first + std::size_t(vector) * Y.vector_stride;
        if (Y.wide) {
            auto* const all = rows_behind(reinterpret_cast<elements*>(vectors), i,
                                          std::int32_t(Y.row_stride * sizeof(V)));
            elements y = beta == V(0) ? elements{} : *all;
#pragma unroll
            for (int w = 0; w < width; ++w) store_scaled(y.of + w, alpha, sum.of[w], beta);
            *all = y;
            return;
        }
        V* const to = vectors + std::size_t(i) * Y.row_stride;
#pragma unroll
        for (int w = 0; w < width; ++w)
            store_scaled(to + std::size_t(w) * Y.vector_stride, alpha, sum.of[w], beta);
    }
};

/// Whether `width` elements of a row may be moved at once, by strides of 32 bits.
template <class V>
bool is_wide(const strided_vectors<V>& X, int width) {
    constexpr std::size_t most = std::numeric_limits<std::int32_t>::max() / sizeof(V);
    return X.vector_stride == 1 && X.row_stride <= most && X.row_stride % std::size_t(width) == 0 &&
           std::uintptr_t(X.first) % (std::size_t(width) * sizeof(V)) == 0;
}

/// f.operator()<width>(X, Y, count) for at most packed_row_vectors of the vectors after another,
/// width being the elements that a lane moves at once.
template <class V, class F>
void with_row_vectors(const in_columns<V, gpu>& X, const out_columns<V, gpu>& Y, F f) {
    constexpr int width = 16 / sizeof(V);
    for (int first = 0; first < Y.count; first += packed_row_vectors) {
        const int count = std::min(packed_row_vectors, Y.count - first);
        const strided_vectors<const V> x{X.values.data() + std::size_t(first) * X.vector_stride(),
                                         X.row_stride(), X.vector_stride(), true};
        strided_vectors<V> y{Y.values.data() + std::size_t(first) * Y.vector_stride(),
                             Y.row_stride(), Y.vector_stride(), false};
        if (count % width == 0 && is_wide(x, width)) {
            y.wide = is_wide(y, width);
            f.template operator()<width>(x, y, count);
        } else {
            f.template operator()<1>(x, y, count);
        }
    }
}

}  // namespace
}  // namespace nz
