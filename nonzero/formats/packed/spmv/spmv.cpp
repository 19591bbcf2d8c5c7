// The product on the CPU: 32 sums a chunk.
#include <array>
#include <bit>
#include <numeric>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/packed/reader.hpp"
#include "nonzero/formats/packed/spmv/simd.hpp"
#include "nonzero/formats/row_ends.hpp"

namespace nz {
namespace {

/// Chunks of one kind, segments or whole rows, by their byte offsets in the matrix.
template <class V>
struct chunk_offsets {
    std::span<const packed_chunk> chunks;
    std::size_t number;  ///< of the first one, in the order of their places

    /// Bytes before chunk c: of indices, of values as they are multiplied, of these chunks, and of
    /// their rows in y.
    [[nodiscard]] double before(const packed_chunk* c) const {
        while (c->rows == 0 && c != chunks.data()) --c;  // fills up a block: it has no place
        return 64.0 * double(c->index_at) +
               double(packed_value_unit * sizeof(V)) * double(c->val_at) +
               double(sizeof *c + warp_rows * sizeof(V)) *
                   double(number + std::size_t(c - chunks.data()));
    }
    [[nodiscard]] double before_last() const { return chunks.empty() ? 0 : before(&chunks.back()); }
    /// Number of the first chunk that begins a row and has at least `bytes` before it.
    [[nodiscard]] std::size_t first_from(double bytes) const {
        auto at = std::partition_point(chunks.begin(), chunks.end(),
                                       [&](const packed_chunk& c) { return before(&c) < bytes; });
        while (at < chunks.end() && at->segments > 0 && at->number > 0) ++at;
        return std::size_t(at - chunks.begin());
    }
};

}  // namespace

template <class V>
std::array<std::span<const packed_chunk>, 2> share_of(const packed<V, host_view>& A, int p,
                                                      int parts) {
    const auto cut = std::size_t(A.segment_chunks);
    // Segments come first, and what they have lies last.
    const chunk_offsets<V> whole_rows{A.chunks.subspan(cut), 0};
    const chunk_offsets<V> segments{A.chunks.first(cut), A.chunks.size() - cut};
    const double all = std::max(segments.before_last(), whole_rows.before_last());
    const auto of = [&](const chunk_offsets<V>& some) {
        const std::size_t begin = p == 0 ? 0 : some.first_from(all * p / parts);
        const std::size_t end =
            p + 1 == parts ? some.chunks.size() : some.first_from(all * (p + 1) / parts);
        return some.chunks.subspan(begin, end - begin);
    };
    return {of(segments), of(whole_rows)};
}

namespace {

/// 32 sums, of whatever rows the lanes of a chunk belong to.
template <class V>
using lane_sums = std::array<V, 32>;

template <class V>
void add_constant_diagonals(const std::uint32_t* word, std::uint32_t width, const V* x,
                            lane_sums<V>& sums) {
    for (std::uint32_t s = 0; s < width; ++s, word += 4) {
        const V* const xs = x + std::int32_t(word[0]);
        const V v = value_of_diagonal<V>(word);
        if (word[1] == full_mask) {
            for (std::size_t r = 0; r < 32; ++r) sums[r] += product(v, xs[r]);
            continue;
        }
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            sums[r] += product(v, xs[r]);
        }
    }
}

template <class V>
void add_diagonals(const std::uint32_t* word, const packed_chunk& c, const V* x, lane_sums<V>& sums,
                   chunk_reader<V>& reader) {
    std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    for (std::uint32_t s = 0; s < c.width; ++s, word += 2, at += 32) {
        const V* const xs = x + std::int32_t(word[0]);
        const V* const val = reader.values(at, 32);
        if (word[1] == full_mask) {
            for (std::size_t r = 0; r < 32; ++r) sums[r] += product(val[r], xs[r]);
            continue;
        }
        for (std::uint32_t left = word[1]; left != 0; left &= left - 1) {
            const auto r = std::size_t(std::countr_zero(left));
            sums[r] += product(val[r], xs[r]);
        }
    }
}

/// The sums of a chunk's lanes. Tiles have a loop of their own.
template <class V>
void multiply_plainly(const packed<V, host_view>& A, const packed_chunk& c, const V* x,
                      chunk_reader<V>& reader, lane_sums<V>& sums) {
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    sums.fill(V(0));
    if (c.kind == packed_chunk::constant_diagonals)
        return add_constant_diagonals(code, c.width, x + c.first_row, sums);
    if (c.kind == packed_chunk::diagonals)
        return add_diagonals(code, c, x + c.first_row, sums, reader);
    reader.for_each_panel(
        c, [&](const panel<V>& some) { multiply_panel(some, x + c.base, sums.data()); });
}

/// Tiles are made for GPUs; on a CPU they are correct, not fast.
template <class End, class V>
void multiply_tile(const packed<V, host_view>& A, const packed_chunk& c, std::span<const V> x,
                   End& end) {
    std::array<V, most_tile_rows> sums{};
    with_decoder(A, [&]<class D>(D value) {
        if constexpr (D::may_tile)
            for_each_of_tile(A, c, value, [&](index i, index j, V v) {
                sums[std::size_t(i - c.first_row)] += product(v, x[std::size_t(j)]);
            });
    });
    end.put_run(std::size_t(c.first_row), c.rows, sums.data());
}

/// The sum of `lanes` lanes, neighbours first.
template <int lanes, class V>
NZ_ALWAYS_INLINE V sum_of(const V* sums) {
    if constexpr (lanes == 1)
        return sums[0];
    else
        return sum_of<lanes / 2>(sums) + sum_of<lanes / 2>(sums + lanes / 2);
}
template <int lanes, class V>
NZ_ALWAYS_INLINE void add_lanes(lane_sums<V>& sums) {
    for (std::size_t r = 0; r < 32 / lanes; ++r) sums[r] = sum_of<lanes>(&sums[r * lanes]);
}

/// The sums of the chunk's rows, which share its lanes.
template <class V>
NZ_ALWAYS_INLINE void add_lanes(const packed_chunk& c, lane_sums<V>& sums) {
    switch (c.log_lanes) {
        case 1:
            return add_lanes<2>(sums);
        case 2:
            return add_lanes<4>(sums);
        case 3:
            return add_lanes<8>(sums);
        case 4:
            return add_lanes<16>(sums);
        case 5:
            return add_lanes<32>(sums);
        default:
            return;
    }
}

/// Gives the chunk's rows to `end`; each has its sum.
template <class End, class V>
NZ_ALWAYS_INLINE void put_rows(const packed<V, host_view>& A, const packed_chunk& c,
                               const lane_sums<V>& sums, End& end) {
    if (!c.sorted) return end.put_run(std::size_t(c.first_row), c.rows, sums.data());
    end.put_listed(A.perm.data() + c.number, c.rows, sums.data());
}

/// Every chunk gives its rows to `end`.
template <class End, class V>
NZ_ALWAYS_INLINE void multiply_each(const packed<V, host_view>& A,
                                    std::span<const packed_chunk> chunks, std::span<const V> x,
                                    End& end) {
    const chunk_loop<V> loop = fastest_chunk_loop(A);
    chunk_reader<V> reader(A);
    V of_segments(0);
    for (const packed_chunk& c : chunks) {
        if (c.rows == 0) continue;  // fills up a block
        if (is_tile(c.kind)) {
            multiply_tile(A, c, x, end);
            continue;
        }
        alignas(64) lane_sums<V> sums;
        if (loop != nullptr) {
            loop(A, c, x.data(), sums.data());
        } else {
            multiply_plainly(A, c, x.data(), reader, sums);
        }
        add_lanes(c, sums);
        if (c.segments > 0) {
            of_segments = sums[0] = c.number == 0 ? sums[0] : of_segments + sums[0];
            if (c.number + 1 < c.segments) continue;
        }
        put_rows(A, c, sums, end);
    }
}

#if defined(NZ_AVX512)
template <class End, class V>
NZ_AVX512 void multiply_avx512(const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                               std::span<const V> x, End& end) {
    multiply_each(A, chunks, x, end);
}
#endif
#if defined(NZ_LANES)
template <class End, class V>
NZ_LANES void multiply_by_lanes(const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                                std::span<const V> x, End& end) {
    multiply_each(A, chunks, x, end);
}
#endif

/// The same, compiled for the machine: short chunks take as long to end as to multiply.
template <class End, class V>
void multiply_chunks(const packed<V, host_view>& A, std::span<const packed_chunk> chunks,
                     std::span<const V> x, End& end) {
#if defined(NZ_AVX512)
    if (has_avx512()) return multiply_avx512(A, chunks, x, end);
#endif
#if defined(NZ_LANES)
    if (has_lanes()) return multiply_by_lanes(A, chunks, x, end);
#endif
    multiply_each(A, chunks, x, end);
}

/// Pieces of a thread's chunks; few bytes are one. Equal bytes take unequal time where only some
/// columns lie far apart: with eight pieces saddle_wide takes 0.9 of it on two threads of a Xeon,
/// and matrices that the caches of its cores hold are no slower.
template <class V>
int pieces_of_a_thread(const packed<V, host_view>& A, int threads) {
    constexpr std::size_t least_bytes = 512 << 10, most = 8;
    if (threads == 1) return 1;
    const std::size_t bytes = A.val.size() + A.indices.size() * sizeof(std::uint32_t);
    return int(std::clamp<std::size_t>(bytes / least_bytes / std::size_t(threads), 1, most));
}

/// Threads give the rows of all chunks to `end`.
template <class End, class V>
void multiply_packed(cpu on, const packed<V, host_view>& A, std::span<const V> x, const End& end) {
    const int threads = thread_count(on), each = pieces_of_a_thread(A, threads);
    shared_pieces all(threads, each);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t)
        all.take(t, [&](int piece) {
            for (const auto some : share_of(A, piece, threads * each))
                multiply_chunks(A, some, x, end);
        });
}

}  // namespace

template <class V>
void spmv(cpu on, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_packed(on, A, x, scaled_rows<V>{alpha, beta, y.data()});
}

template <class V>
bool relax(cpu on, packed_warp, const typename linear_operator<V, cpu>::relaxation& how,
           const packed<V, host_view>& A, in_columns<V, cpu> X, out_columns<V, cpu> Y) {
    if (X.count != 1) return false;
    multiply_packed(on, A, X.values, relaxed_rows<V>{how, X.values.data(), Y.values.data()});
    return true;
}

/// Threads take whole groups of chunks, of which each has its part, so that the parts are the same
/// for any number of threads.
template <class V>
bool spmv_fused(cpu on, packed_warp, V alpha, const packed<V, host_view>& A, std::span<const V> x,
                V beta, std::span<V> y,
                const typename linear_operator<V, cpu>::fused_update& with) {
    const int groups = int(product_parts(packed_warp{}, A));
    [[maybe_unused]] const int threads = thread_count(on);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (int g = 0; g < groups; ++g) {
        fused_rows<V> end{{alpha, beta, y.data()}, with};
        for (const auto some : share_of(A, g, groups)) multiply_chunks(A, some, x, end);
        if (with.parts.size() > 0)
            with.parts[std::size_t(g)] = std::accumulate(end.sum.begin(), end.sum.end(), 0.0);
    }
    return true;
}

#define NZ_INSTANTIATE(V)                                                                          \
    template std::array<std::span<const packed_chunk>, 2> share_of(const packed<V, host_view>&,    \
                                                                   int, int);                      \
    template void spmv(cpu, packed_warp, V, const packed<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);                                                              \
    template bool relax(cpu, packed_warp, const linear_operator<V, cpu>::relaxation&,              \
                        const packed<V, host_view>&, in_columns<V, cpu>, out_columns<V, cpu>);     \
    template bool spmv_fused(cpu, packed_warp, V, const packed<V, host_view>&, std::span<const V>, \
                             V, std::span<V>, const linear_operator<V, cpu>::fused_update&);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
