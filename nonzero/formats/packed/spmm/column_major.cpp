// packed.warp with several vectors on the CPU. Column-major ones are turned where that pays; else a
// chunk meets eight of them while it is in the nearest cache, and without SIMD it is decoded once
// for these.
#include <algorithm>
#include <bit>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/packed/reader.hpp"
#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/packed/spmv/simd.hpp"
#include "nonzero/formats/turned_columns.hpp"

namespace nz {
namespace {

constexpr std::size_t vectors_at_once = 8;
constexpr std::size_t lanes = 32;

/// The sums of a chunk's lanes, for each of the vectors.
template <class V>
using many_sums = std::array<std::array<V, lanes>, vectors_at_once>;

/// Some of the vectors.
template <class V>
struct some_vectors {
    const V* first;
    std::size_t stride, count;
    [[nodiscard]] const V* operator[](std::size_t c) const { return first + c * stride; }
};

/// Adds a diagonal with the values `val` of its rows.
template <class V>
void add_diagonal(const std::uint32_t* word, index row, const V* val, some_vectors<V> x,
                  many_sums<V>& sums) {
    for (std::size_t c = 0; c < x.count; ++c) {
        const V* const xs = x[c] + row + std::int32_t(word[0]);
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            sums[c][r] += product(val[r], xs[r]);
        }
    }
}

/// Adds a chunk, vector by vector in SIMD.
template <class V>
void add_chunk_by(chunk_loop<V> loop, const packed<V, host_view>& A, const packed_chunk& c,
                  some_vectors<V> x, many_sums<V>& sums) {
    std::array<V, lanes> mine;
    for (std::size_t v = 0; v < x.count; ++v) {
        loop(A, c, x[v], mine.data());
        for (std::size_t l = 0; l < lanes; ++l) sums[v][l] += mine[l];
    }
}

/// Adds a chunk, by `loop` where there is one; tiles left out: they are multiplied by rows. Every
/// vector meets the places that are decoded before the next ones are.
template <class V>
void add_chunk(chunk_loop<V> loop, const packed<V, host_view>& A, const packed_chunk& c,
               chunk_reader<V>& reader, some_vectors<V> x, many_sums<V>& sums) {
    if (loop != nullptr) return add_chunk_by(loop, A, c, x, sums);
    if (c.kind >= packed_chunk::delta16)
        return reader.for_each_panel(c, [&](const panel<V>& some) {
            for (std::size_t v = 0; v < x.count; ++v)
                multiply_panel(some, x[v] + c.base, sums[v].data());
        });
    const std::uint32_t* word = A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    std::array<V, lanes> same;
    for (std::size_t s = 0; s < c.width; ++s, word += words_a_column(c.kind), at += lanes) {
        const bool constant = c.kind == packed_chunk::constant_diagonals;
        if (constant) same.fill(value_of_diagonal<V>(word));
        add_diagonal(word, c.first_row, constant ? same.data() : reader.values(at, lanes), x, sums);
    }
}

/// The sums of row r of the chunk, of its lanes in order.
template <class V>
V sum_of_row(const std::array<V, lanes>& sums, std::size_t r, unsigned log_lanes) {
    V sum(0);
    for (std::size_t l = 0; l < std::size_t(1) << log_lanes; ++l) sum += sums[(r << log_lanes) + l];
    return sum;
}

/// One chunk of whole rows, or the `segments` chunks of a long one, with some of the vectors.
template <class V>
void multiply_chunks(V alpha, const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                     chunk_loop<V> loop, chunk_reader<V>& reader, some_vectors<V> x,
                     std::size_t first, V beta, out_columns<V, cpu> Y) {
    const packed_chunk& c = chunks.front();
    many_sums<V> sums;
    if (loop != nullptr && chunks.size() == 1) {
        for (std::size_t v = 0; v < x.count; ++v) loop(A, c, x[v], sums[v].data());
    } else {
        sums = {};
        for (const packed_chunk& part : chunks) add_chunk(loop, A, part, reader, x, sums);
    }
    for (std::uint32_t r = 0; r < c.rows; ++r) {
        const index i = c.sorted ? A.perm[std::size_t(c.number) + r] : c.first_row + index(r);
        for (std::size_t v = 0; v < x.count; ++v) {
            V& to = Y.values[(first + v) * Y.vector_stride() + std::size_t(i) * Y.row_stride()];
            to = scaled(alpha, sum_of_row(sums[v], r, c.log_lanes), beta, to);
        }
    }
}

/// All chunks with eight of the vectors, from `first` on: the caches hold what they share of X.
template <class V>
void multiply_some(cpu on, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X,
                   std::size_t first, V beta, out_columns<V, cpu> Y) {
    const some_vectors<V> x{X.values.data() + first * X.stride, X.stride,
                            std::min(vectors_at_once, std::size_t(Y.count) - first)};
    const chunk_loop<V> loop = fastest_chunk_loop(A);
    const int threads = thread_count(on);
#pragma omp parallel num_threads(threads)
    {
        chunk_reader<V> reader(A);
#pragma omp for schedule(static, 64)
        for (std::int64_t k = 0; k < std::int64_t(A.chunks.size()); ++k) {
            const packed_chunk& c = A.chunks[std::size_t(k)];
            if (c.rows == 0 || (c.segments > 0 && c.number > 0)) continue;  // with its row's first
            multiply_chunks(alpha, A,
                            A.chunks.subspan(std::size_t(k), std::size_t(std::max(c.segments, 1))),
                            loop, reader, x, first, beta, Y);
        }
    }
}

/// Of diagonals x is read as it lies.
template <class V>
std::int64_t places_of_lists(const packed<V, host_view>& A) {
    std::int64_t places = 0;
    for (const packed_chunk& c : A.chunks)
        if (c.kind >= packed_chunk::delta16) places += std::int64_t(lanes) * c.width;
    return places;
}

}  // namespace

template <class V>
void spmv_many(cpu on, packed_warp, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X,
               V beta, out_columns<V, cpu> Y) {
    if (X.by_row() || A.tiles > 0) return spmm_row_major(on, alpha, A, X, beta, Y);
    if (turning_pays<V>(places_of_lists(A), A.shape.cols, X.count))
        return for_some_by_rows<V>(
            on, X, std::size_t(A.shape.cols), [&](const in_columns<V, cpu>& some, index at) {
                spmm_row_major(on, alpha, A, some, beta, some_of(Y, at, some.count));
            });
    for (std::size_t first = 0; first < std::size_t(Y.count); first += vectors_at_once)
        multiply_some(on, alpha, A, X, first, beta, Y);
}

#define NZ_INSTANTIATE(V)                                                                         \
    template void spmv_many(cpu, packed_warp, V, const packed<V, host_view>&, in_columns<V, cpu>, \
                            V, out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
