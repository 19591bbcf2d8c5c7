// packed.warp with several vectors by rows on the CPU: a row is decoded once, and SIMD runs along
// the vectors.
#include "nonzero/formats/packed/spmv_rows.hpp"

#include <algorithm>
#include <array>

#include "nonzero/formats/simd/loads.hpp"

namespace nz {
namespace {

/// Entries of a row that are decoded at once, and vectors whose sums are kept meanwhile.
constexpr std::size_t entries_at_once = 128;
constexpr std::size_t vectors_at_once = 256;

template <class V>
struct some_entries {
    std::array<index, entries_at_once> col_ind;
    std::array<V, entries_at_once> val;
    std::size_t count = 0;
};

/// sums[v] += the products of a row's entries with row-major vectors, of whose rows `stride`
/// elements are apart; entry after entry for each vector.
template <class V>
using row_loop = void (*)(const some_entries<V>&, const V* x, std::size_t stride, std::size_t count,
                          V* sums);

template <class V>
void add_plainly(const some_entries<V>& e, const V* x, std::size_t stride, std::size_t count,
                 V* sums) {
    for (std::size_t k = 0; k < e.count; ++k)
        for (std::size_t v = 0; v < count; ++v)
            sums[v] += product(e.val[k], x[std::size_t(e.col_ind[k]) * stride + v]);
}

#if defined(NZ_AVX512)
constexpr std::size_t line_bytes = 64;  // of a cache, and a register of AVX-512
/// As many vectors as a line holds.
template <class V>
using line __attribute__((vector_size(line_bytes), may_alias)) = V;

/// The same bits, for `lines` lines of vectors.
template <std::size_t lines, class V>
NZ_ALWAYS_INLINE void add_lines(const some_entries<V>& e, const V* x, std::size_t stride, V* sums) {
    line<V> s[lines], row[lines];
    std::memcpy(s, sums, sizeof s);
    for (std::size_t k = 0; k < e.count; ++k) {
        std::memcpy(row, x + std::size_t(e.col_ind[k]) * stride, sizeof row);
        for (std::size_t l = 0; l < lines; ++l) s[l] += e.val[k] * row[l];
    }
    std::memcpy(sums, s, sizeof s);
}
template <class V>
NZ_ALWAYS_INLINE void add_all(const some_entries<V>& e, const V* x, std::size_t stride,
                              std::size_t count, V* sums) {
    constexpr std::size_t in_line = line_bytes / sizeof(V);
    std::size_t v = 0;
    for (; v + 4 * in_line <= count; v += 4 * in_line) add_lines<4>(e, x + v, stride, sums + v);
    for (; v + in_line <= count; v += in_line) add_lines<1>(e, x + v, stride, sums + v);
    if (v < count) add_plainly(e, x + v, stride, count - v, sums + v);
}
template <class V>
NZ_AVX512 void add_avx512(const some_entries<V>& e, const V* x, std::size_t stride,
                          std::size_t count, V* sums) {
    add_all(e, x, stride, count, sums);
}
template <class V>
NZ_AVX2 void add_avx2(const some_entries<V>& e, const V* x, std::size_t stride, std::size_t count,
                      V* sums) {
    add_all(e, x, stride, count, sums);
}
#endif

template <class V>
row_loop<V> fastest_row_loop() {
#if defined(NZ_AVX512)
    if constexpr (std::floating_point<V>) {
        if (has_avx512()) return add_avx512<V>;
        if (__builtin_cpu_supports("avx2")) return add_avx2<V>;
    }
#endif
    return add_plainly<V>;
}

/// A row of the product in the making, for some of the vectors.
template <class V>
class row_of_sums {
  public:
    row_of_sums(V alpha, const in_columns<V, cpu>& X, V beta, const out_columns<V, cpu>& Y,
                std::size_t first)
        : alpha_(alpha),
          beta_(beta),
          x_(X.values.data() + first * X.vector_stride()),
          y_(Y.values.data() + first * Y.vector_stride()),
          X_(X),
          Y_(Y),
          count_(std::min(vectors_at_once, std::size_t(Y.count) - first)),
          add_(fastest_row_loop<V>()) {}

    void begin() { std::fill_n(sums_.begin(), count_, V(0)); }
    void add(index j, V v) {
        if (entries_.count == entries_at_once) add_entries();
        entries_.col_ind[entries_.count] = j;
        entries_.val[entries_.count++] = v;
    }
    void store(index i) {
        add_entries();
        V* const to = y_ + std::size_t(i) * Y_.row_stride();
        for (std::size_t v = 0; v < count_; ++v) {
            V& y = to[v * Y_.vector_stride()];
            y = scaled(alpha_, sums_[v], beta_, y);
        }
    }

  private:
    void add_entries() {
        if (X_.vector_stride() == 1) {
            add_(entries_, x_, X_.row_stride(), count_, sums_.data());
        } else {
            for (std::size_t v = 0; v < count_; ++v)
                add_plainly(entries_, x_ + v * X_.vector_stride(), X_.row_stride(), 1, &sums_[v]);
        }
        entries_.count = 0;
    }

    V alpha_, beta_;
    const V* x_;
    V* y_;
    const in_columns<V, cpu>& X_;
    const out_columns<V, cpu>& Y_;
    std::size_t count_;
    row_loop<V> add_;
    some_entries<V> entries_;
    std::array<V, vectors_at_once> sums_;
};

/// f(column, value) for the entries of the r-th row of a chunk of lists, or of a segment.
template <class Column, class D, class F>
void for_each_of_list(const Column* column, const packed_chunk& c, std::uint32_t r, D value,
                      std::size_t at, F f) {
    const std::uint32_t lanes = 1U << c.log_lanes;
    for (std::size_t s = 0; s < c.width; ++s)
        for (std::size_t k = 32 * s + r * lanes; k < 32 * s + (r + 1) * lanes; ++k) {
            if (column[k] == Column(-1)) return;  // padding stands behind a row's last entry
            f(c.base + index(column[k]), value[at + k]);
        }
}

template <class D, class V>
void add_row(const packed<V, host_view>& A, const packed_chunk& c, std::uint32_t r, D value,
             row_of_sums<V>& to) {
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    const auto add = [&](index j, V v) { to.add(j, v); };
    if (c.kind == packed_chunk::delta16)
        return for_each_of_list(reinterpret_cast<const std::uint16_t*>(code), c, r, value, at, add);
    if (c.kind == packed_chunk::delta32) return for_each_of_list(code, c, r, value, at, add);
    const index i = c.first_row + index(r);
    for (std::size_t s = 0; s < c.width; ++s) {
        const std::uint32_t* const word = code + s * words_a_column(c.kind);
        if ((word[1] >> r & 1) == 0) continue;
        V v{};
        if (c.kind == packed_chunk::constant_diagonals) {
            std::memcpy(static_cast<void*>(&v), word + 2, std::min<std::size_t>(sizeof(V), 8));
        } else {
            v = value[at + 32 * s + r];
        }
        add(i + std::int32_t(word[0]), v);
    }
}

template <class D, class V>
void multiply_tile(const packed<V, host_view>& A, const packed_chunk& c, D value,
                   row_of_sums<V>& to) {
    index row = c.first_row;
    to.begin();
    const auto go_to = [&](index i) {
        for (; row < i; ++row) to.store(row), to.begin();
    };
    for_each_of_tile(A, c, value, [&](index i, index j, V v) {
        go_to(i);
        to.add(j, v);
    });
    go_to(c.first_row + index(c.rows));
}

template <class D, class V>
void multiply_chunk(const packed<V, host_view>& A, const packed_chunk& c, D value,
                    row_of_sums<V>& to) {
    if (is_tile(c.kind)) return multiply_tile(A, c, value, to);
    for (std::uint32_t r = 0; r < c.rows; ++r) {
        if (c.segments == 0 || c.number == 0) to.begin();
        add_row(A, c, r, value, to);
        if (c.segments > 0 && c.number + 1 < c.segments) continue;
        to.store(c.sorted ? A.perm[std::size_t(c.number) + r] : c.first_row + index(r));
    }
}

}  // namespace

template <class V>
void spmv_rows(cpu on, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X, V beta,
               out_columns<V, cpu> Y) {
    const int threads = thread_count(on);
    const auto segments = A.chunks.first(std::size_t(A.segment_chunks));
    const auto whole_rows = A.chunks.subspan(std::size_t(A.segment_chunks));
    with_decoder(A, [&](auto value) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            for (std::size_t v = 0; v < std::size_t(Y.count); v += vectors_at_once) {
                row_of_sums<V> row(alpha, X, beta, Y, v);
                for (const auto of : {segments, whole_rows})
                    for (const packed_chunk& c : share_of<V>(of, t, threads))
                        multiply_chunk(A, c, value, row);
            }
    });
}

#define NZ_INSTANTIATE(V)                                                               \
    template void spmv_rows(cpu, V, const packed<V, host_view>&, in_columns<V, cpu>, V, \
                            out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
