// packed.warp with several vectors on the CPU. Column-major ones: a chunk is decoded once for eight
// of them.
#include <algorithm>
#include <bit>

#include "nonzero/formats/packed/spmm/row_major.hpp"
#include "nonzero/formats/panel.hpp"

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

/// A list as panels of `at_once` columns, each of which every vector meets.
template <class Column, class D, class V>
void add_list(const Column* column, std::size_t width, index base, D value, std::size_t at,
              some_vectors<V> x, many_sums<V>& sums) {
    constexpr std::size_t at_once = 16;  // columns: 6 KB of L1
    std::array<index, lanes * at_once> col_ind;
    std::array<V, lanes * at_once> val;
    for (std::size_t s = 0; s < width; s += at_once) {
        const std::size_t taken = std::min(at_once, width - s);
        for (std::size_t k = 0; k < lanes * taken; ++k) {
            const Column j = column[lanes * s + k];
            col_ind[k] = j == Column(-1) ? index(-1) : index(j);
            val[k] = j == Column(-1) ? V(0) : value[at + lanes * s + k];
        }
        for (std::size_t c = 0; c < x.count; ++c)
            multiply_panel(panel<V>{col_ind.data(), val.data(), lanes, lanes, std::int64_t(taken)},
                           x[c] + base, sums[c].data());
    }
}

/// A chunk of diagonals: value_of(words of the diagonal, its number, lane).
template <class V, class F>
void add_diagonals(const std::uint32_t* word, std::size_t words, std::size_t width, index row,
                   some_vectors<V> x, many_sums<V>& sums, F value_of) {
    for (std::size_t s = 0; s < width; ++s, word += words) {
        std::array<V, lanes> v;
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            v[r] = value_of(word, s, r);
        }
        for (std::size_t c = 0; c < x.count; ++c) {
            const V* const xs = x[c] + row + std::int32_t(word[0]);
            for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
                const auto r = std::size_t(std::countr_zero(left));
                sums[c][r] += product(v[r], xs[r]);
            }
        }
    }
}

template <class D, class V>
void add_chunk(const packed<V, host_view>& A, const packed_chunk& c, D value, some_vectors<V> x,
               many_sums<V>& sums) {
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * lanes;
    switch (c.kind) {
        case packed_chunk::constant_diagonals:
            return add_diagonals(code, 4, c.width, c.first_row, x, sums,
                                 [](const std::uint32_t* word, std::size_t, std::size_t) {
                                     V v{};
                                     std::memcpy(static_cast<void*>(&v), word + 2,
                                                 std::min<std::size_t>(sizeof(V), 8));
                                     return v;
                                 });
        case packed_chunk::diagonals:
            return add_diagonals(code, 2, c.width, c.first_row, x, sums,
                                 [&](const std::uint32_t*, std::size_t s, std::size_t r) {
                                     return value[at + s * lanes + r];
                                 });
        case packed_chunk::delta16:
            return add_list(reinterpret_cast<const std::uint16_t*>(code), c.width, c.base, value,
                            at, x, sums);
        case packed_chunk::delta32:
            return add_list(code, c.width, c.base, value, at, x, sums);
        default:
            return;  // tiles are multiplied by rows
    }
}

/// The sums of row r of the chunk, of its lanes in order.
template <class V>
V sum_of_row(const std::array<V, lanes>& sums, std::size_t r, unsigned log_lanes) {
    V sum(0);
    for (std::size_t l = 0; l < std::size_t(1) << log_lanes; ++l) sum += sums[(r << log_lanes) + l];
    return sum;
}

/// One chunk of whole rows, or the `segments` chunks of a long one, with all the vectors.
template <class D, class V>
void multiply_chunks(V alpha, const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                     D value, in_columns<V, cpu> X, V beta, out_columns<V, cpu> Y) {
    const packed_chunk& c = chunks.front();
    const auto count = std::size_t(Y.count);
    for (std::size_t first = 0; first < count; first += vectors_at_once) {
        const some_vectors<V> x{X.values.data() + first * X.stride, X.stride,
                                std::min(vectors_at_once, count - first)};
        many_sums<V> sums{};
        for (const packed_chunk& part : chunks) add_chunk(A, part, value, x, sums);
        for (std::uint32_t r = 0; r < c.rows; ++r) {
            const index i = c.sorted ? A.perm[std::size_t(c.number) + r] : c.first_row + index(r);
            for (std::size_t v = 0; v < x.count; ++v) {
                V& to = Y.values[(first + v) * Y.vector_stride() + std::size_t(i) * Y.row_stride()];
                to = scaled(alpha, sum_of_row(sums[v], r, c.log_lanes), beta, to);
            }
        }
    }
}

}  // namespace

template <class V>
void spmv_many(cpu on, packed_warp, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X,
               V beta, out_columns<V, cpu> Y) {
    if (X.by_row() || A.tiles > 0) return spmv_rows(on, alpha, A, X, beta, Y);
    const int threads = thread_count(on);
    with_decoder(A, [&](auto value) {
#pragma omp parallel for schedule(static, 64) num_threads(threads)
        for (std::int64_t k = 0; k < std::int64_t(A.chunks.size()); ++k) {
            const packed_chunk& c = A.chunks[std::size_t(k)];
            if (c.rows == 0 || (c.segments > 0 && c.number > 0)) continue;  // with its row's first
            multiply_chunks(alpha, A,
                            A.chunks.subspan(std::size_t(k), std::size_t(std::max(c.segments, 1))),
                            value, X, beta, Y);
        }
    });
}

#define NZ_INSTANTIATE(V)                                                                         \
    template void spmv_many(cpu, packed_warp, V, const packed<V, host_view>&, in_columns<V, cpu>, \
                            V, out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
