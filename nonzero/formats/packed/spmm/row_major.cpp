// packed.warp with several row-major vectors on the CPU: a row is decoded once, and SIMD runs along
// the vectors.
#include "nonzero/formats/packed/spmm/row_major.hpp"

#include <algorithm>
#include <array>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/simd/targets.hpp"

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

/// The loops along the vectors. They give the same bits, whatever the machine has.
template <class V>
struct row_loops {
    /// sums[v] += the products of a row's entries with row-major vectors, of whose rows `stride`
    /// elements are apart; entry after entry for each vector. fresh: sums are zero, whatever they
    /// hold.
    void (*add)(const some_entries<V>&, const V* x, std::size_t stride, std::size_t count,
                bool fresh, V* sums);
    /// y[v] = alpha sums[v] + beta y[v], y not read where beta is 0.
    void (*store)(V alpha, const V* sums, V beta, V* y, std::size_t count);
};

template <class V>
void add_plainly(const some_entries<V>& e, const V* x, std::size_t stride, std::size_t count,
                 bool fresh, V* sums) {
    if (fresh) std::fill_n(sums, count, V(0));
    for (std::size_t k = 0; k < e.count; ++k)
        for (std::size_t v = 0; v < count; ++v)
            sums[v] += product(e.val[k], x[std::size_t(e.col_ind[k]) * stride + v]);
}
template <class V>
void store_plainly(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    for (std::size_t v = 0; v < count; ++v) y[v] = scaled(alpha, sums[v], beta, y[v]);
}

#if defined(NZ_LANES)
template <class V, std::size_t bytes>
struct simd_loops {
    using vec = simd_vector<V, bytes>;
    static constexpr std::size_t lanes = bytes / sizeof(V);

    template <std::size_t registers>
    static NZ_ALWAYS_INLINE void add_some(const some_entries<V>& e, const V* x, std::size_t stride,
                                          bool fresh, V* sums) {
        vec s[registers];
        NZ_UNROLL
        for (std::size_t l = 0; l < registers; ++l) {
            s[l] = vec{};
            if (!fresh) read(sums + l * lanes, s[l]);
        }
        for (std::size_t k = 0; k < e.count; ++k) {
            const V* const row = x + std::size_t(e.col_ind[k]) * stride;
            const V a = e.val[k];
            NZ_UNROLL
            for (std::size_t l = 0; l < registers; ++l) {
                vec r;
                read(row + l * lanes, r);
                s[l] += a * r;
            }
        }
        NZ_UNROLL
        for (std::size_t l = 0; l < registers; ++l) write(s[l], sums + l * lanes);
    }
    static NZ_ALWAYS_INLINE void add(const some_entries<V>& e, const V* x, std::size_t stride,
                                     std::size_t count, bool fresh, V* sums) {
        constexpr std::size_t most = 8;  // registers; their loads of X need others
        std::size_t v = 0;
        for (; v + most * lanes <= count; v += most * lanes)
            add_some<most>(e, x + v, stride, fresh, sums + v);
        for (; v + 2 * lanes <= count; v += 2 * lanes)
            add_some<2>(e, x + v, stride, fresh, sums + v);
        for (; v + lanes <= count; v += lanes) add_some<1>(e, x + v, stride, fresh, sums + v);
        if (v < count) add_plainly(e, x + v, stride, count - v, fresh, sums + v);
    }
    static NZ_ALWAYS_INLINE void store(V alpha, const V* sums, V beta, V* y, std::size_t count) {
        std::size_t v = 0;
        for (; v + lanes <= count; v += lanes) {
            vec s;
            read(sums + v, s);
            write_scaled(alpha, s, beta, y + v);
        }
        store_plainly(alpha, sums + v, beta, y + v, count - v);
    }
};

template <class V>
NZ_LANES void add_by_lanes(const some_entries<V>& e, const V* x, std::size_t stride,
                           std::size_t count, bool fresh, V* sums) {
    simd_loops<V, lane_register_bytes>::add(e, x, stride, count, fresh, sums);
}
template <class V>
NZ_LANES void store_by_lanes(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    simd_loops<V, lane_register_bytes>::store(alpha, sums, beta, y, count);
}
#endif
#if defined(NZ_AVX512)
template <class V>
NZ_AVX512 void add_avx512(const some_entries<V>& e, const V* x, std::size_t stride,
                          std::size_t count, bool fresh, V* sums) {
    simd_loops<V, 64>::add(e, x, stride, count, fresh, sums);
}
template <class V>
NZ_AVX512 void store_avx512(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    simd_loops<V, 64>::store(alpha, sums, beta, y, count);
}
#endif

template <class V>
row_loops<V> fastest_row_loops() {
    if constexpr (std::floating_point<V>) {
#if defined(NZ_AVX512)
        if (has_avx512()) return {add_avx512<V>, store_avx512<V>};
#endif
#if defined(NZ_LANES)
        if (has_lanes()) return {add_by_lanes<V>, store_by_lanes<V>};
#endif
    }
    return {add_plainly<V>, store_plainly<V>};
}

/// A row of the product in the making, for some of the vectors.
template <class V>
class row_of_sums {
  public:
    row_of_sums(V alpha, const in_columns<V, cpu>& X, V beta, const out_columns<V, cpu>& Y,
                std::size_t first)
        : alpha_(alpha),
          beta_(beta),
          X_(X),
          Y_(Y),
          first_(first),
          count_(std::min(vectors_at_once, std::size_t(Y.count) - first)),
          loops_(fastest_row_loops<V>()) {}

    void begin() { fresh_ = true; }
    void add(index j, V v) {
        if (entries_.count == entries_at_once) add_entries();
        entries_.col_ind[entries_.count] = j;
        entries_.val[entries_.count++] = v;
    }
    /// The entries of `lanes` neighbouring lanes of a chunk of lists, from `column` and the place
    /// `at` of the first one's first on.
    template <class Column, class D>
    void add_list(const Column* column, std::size_t lanes, std::size_t width, index base, D value,
                  std::size_t at) {
        std::size_t n = entries_.count;
        for (std::size_t s = 0; s < width; ++s, column += 32, at += 32) {
            if (n + lanes > entries_at_once) {
                entries_.count = n;
                add_entries();
                n = 0;
            }
            for (std::size_t l = 0; l < lanes; ++l, ++n) {
                if (column[l] == Column(-1)) {  // padding stands behind a row's last entry
                    entries_.count = n;
                    return;
                }
                entries_.col_ind[n] = base + index(column[l]);
                entries_.val[n] = value[at + l];
            }
        }
        entries_.count = n;
    }
    void store(index i) {
        add_entries();
        V* const to =
            Y_.values.data() + first_ * Y_.vector_stride() + std::size_t(i) * Y_.row_stride();
        if (Y_.vector_stride() == 1) return loops_.store(alpha_, sums_.data(), beta_, to, count_);
        for (std::size_t v = 0; v < count_; ++v)
            store_plainly(alpha_, &sums_[v], beta_, to + v * Y_.vector_stride(), 1);
    }

  private:
    void add_entries() {
        if (entries_.count == 0) {  // X may have no element that a pointer could point to
            if (fresh_) std::fill_n(sums_.begin(), count_, V(0));
            fresh_ = false;
            return;
        }
        const V* const x = X_.values.data() + first_ * X_.vector_stride();
        if (X_.vector_stride() == 1) {
            loops_.add(entries_, x, X_.row_stride(), count_, fresh_, sums_.data());
        } else {
            for (std::size_t v = 0; v < count_; ++v)
                add_plainly(entries_, x + v * X_.vector_stride(), X_.row_stride(), 1, fresh_,
                            &sums_[v]);
        }
        fresh_ = false;
        entries_.count = 0;
    }

    V alpha_, beta_;
    const in_columns<V, cpu>& X_;
    const out_columns<V, cpu>& Y_;
    std::size_t first_;  ///< of the vectors
    std::size_t count_;
    row_loops<V> loops_;
    bool fresh_ = true;
    some_entries<V> entries_;
    std::array<V, vectors_at_once> sums_;
};

template <class D, class V>
void add_row(const packed<V, host_view>& A, const packed_chunk& c, std::uint32_t r, D value,
             row_of_sums<V>& to) {
    if (c.width == 0) return;  // then A's arrays may be empty
    const std::uint32_t* const code =
        A.indices.data() + std::size_t(c.index_at) * packed_index_unit;
    const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
    const std::size_t lanes = std::size_t(1) << c.log_lanes, first = r * lanes;
    if (c.kind == packed_chunk::delta16)
        return to.add_list(reinterpret_cast<const std::uint16_t*>(code) + first, lanes, c.width,
                           c.base, value, at + first);
    if (c.kind == packed_chunk::delta32)
        return to.add_list(code + first, lanes, c.width, c.base, value, at + first);
    const index i = c.first_row + index(r);
    for (std::size_t s = 0; s < c.width; ++s) {
        const std::uint32_t* const word = code + s * words_a_column(c.kind);
        if ((word[1] >> r & 1) == 0) continue;
        to.add(i + std::int32_t(word[0]), c.kind == packed_chunk::constant_diagonals
                                              ? value_of_diagonal<V>(word)
                                              : value[at + 32 * s + r]);
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
    if constexpr (D::may_tile)
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
void spmm_row_major(cpu on, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X, V beta,
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

#define NZ_INSTANTIATE(V)                                                                    \
    template void spmm_row_major(cpu, V, const packed<V, host_view>&, in_columns<V, cpu>, V, \
                                 out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
