// packed.warp with several row-major vectors on the CPU: SIMD runs along the vectors, and the sums
// of a few lanes of a chunk stay in registers while their entries pass.
#include "nonzero/formats/packed/spmm/row_major.hpp"

#include <algorithm>
#include <array>

#include "nonzero/core/threads.hpp"
#include "nonzero/formats/columns.hpp"
#include "nonzero/formats/simd/targets.hpp"

namespace nz {
namespace {

constexpr std::size_t lanes_of_chunk = 32;
/// Vectors whose sums are kept, of all lanes of a chunk: 8 KB of L1.
constexpr std::size_t vectors_at_once = 32;

/// The entries of a chunk of lists, by step and lane.
template <class Column, class D>
struct listed_entries {
    const Column* columns;
    index base;
    D values;
    std::size_t at;  ///< of the first value
    std::size_t width;

    [[nodiscard]] bool has(std::size_t step, std::size_t lane) const {
        return columns[step * lanes_of_chunk + lane] != Column(-1);
    }
    [[nodiscard]] std::size_t column(std::size_t step, std::size_t lane) const {
        return std::size_t(base) + columns[step * lanes_of_chunk + lane];
    }
    [[nodiscard]] auto value(std::size_t step, std::size_t lane) const {
        return values[at + step * lanes_of_chunk + lane];
    }
};

/// The entries of a chunk of diagonals. constant: of one value each.
template <bool constant, class D, class V>
struct diagonal_entries {
    static constexpr std::size_t words =
        words_a_column(constant ? packed_chunk::constant_diagonals : packed_chunk::diagonals);
    const std::uint32_t* code;
    index first_row;
    D values;
    std::size_t at;
    std::size_t width;

    [[nodiscard]] bool has(std::size_t step, std::size_t lane) const {
        return (code[step * words + 1] >> lane & 1) != 0;
    }
    [[nodiscard]] std::size_t column(std::size_t step, std::size_t lane) const {
        return std::size_t(first_row) + lane + std::size_t(std::int32_t(code[step * words]));
    }
    [[nodiscard]] V value(std::size_t step, std::size_t lane) const {
        if constexpr (constant) return value_of_diagonal<V>(code + step * words);
        return values[at + step * lanes_of_chunk + lane];
    }
};

/// The sums of a chunk's lanes.
template <class V>
struct lane_sums {
    std::array<V, lanes_of_chunk * vectors_at_once> all;
    [[nodiscard]] V* of(std::size_t lane) { return all.data() + lane * vectors_at_once; }
};

/// Some vectors of X: element v of row j lies at first + j * row + v * vector.
template <class V>
struct some_vectors {
    const V* first;
    std::size_t row, vector, count;
};

/// Adds the products of a chunk's entries, entry after entry for each lane and vector. fresh: to
/// zeros, whatever sums holds.
template <class E, class V>
void add_plainly(const E& e, some_vectors<V> x, bool fresh, lane_sums<V>& sums) {
    for (std::size_t l = 0; fresh && l < lanes_of_chunk; ++l)
        std::fill_n(sums.of(l), x.count, V(0));
    for (std::size_t s = 0; s < e.width; ++s)
        for (std::size_t l = 0; l < lanes_of_chunk; ++l) {
            if (!e.has(s, l)) continue;
            const V a = e.value(s, l);
            const V* const row = x.first + e.column(s, l) * x.row;
            V* const to = sums.of(l);
            for (std::size_t v = 0; v < x.count; ++v) to[v] += product(a, row[v * x.vector]);
        }
}
template <class V>
void store_plainly(V alpha, const V* sums, V beta, V* y, std::size_t count, std::size_t stride) {
    for (std::size_t v = 0; v < count; ++v)
        y[v * stride] = scaled(alpha, sums[v], beta, y[v * stride]);
}

#if defined(NZ_LANES)
/// The sums of one lane of a chunk, in registers; element by element where a register holds one.
template <class V, std::size_t bytes, std::size_t registers>
struct register_sums {
    using vec = std::conditional_t<bytes == sizeof(V), V, simd_vector<V, bytes>>;
    static constexpr std::size_t elements = bytes / sizeof(V);
    vec of[registers];

    NZ_ALWAYS_INLINE void start(const V* sums, bool fresh) {
        NZ_UNROLL
        for (std::size_t k = 0; k < registers; ++k) {
            of[k] = vec{};
            if (!fresh) read(sums + k * elements, of[k]);
        }
    }
    NZ_ALWAYS_INLINE void write_to(V* sums) const {
        NZ_UNROLL
        for (std::size_t k = 0; k < registers; ++k) write(of[k], sums + k * elements);
    }
    NZ_ALWAYS_INLINE void add(V a, const V* x) {
        NZ_UNROLL
        for (std::size_t k = 0; k < registers; ++k) {
            vec r;
            read(x + k * elements, r);
            of[k] += a * r;
        }
    }
};

/// A few neighbouring lanes at once, so that none waits for its last addition.
template <std::size_t bytes, std::size_t lanes, std::size_t registers, class E, class V>
NZ_ALWAYS_INLINE void add_registers(const E& entries, const V* x, std::size_t row, bool fresh,
                                    V* sums) {
    const E e = entries;  // by reference, its members would be loaded again for every entry
    for (std::size_t first = 0; first < lanes_of_chunk; first += lanes) {
        register_sums<V, bytes, registers> s[lanes];
        V* const to = sums + first * vectors_at_once;
        NZ_UNROLL
        for (std::size_t l = 0; l < lanes; ++l) s[l].start(to + l * vectors_at_once, fresh);
        for (std::size_t step = 0; step < e.width; ++step) {
            NZ_UNROLL
            for (std::size_t l = 0; l < lanes; ++l)
                if (e.has(step, first + l))
                    s[l].add(e.value(step, first + l), x + e.column(step, first + l) * row);
        }
        NZ_UNROLL
        for (std::size_t l = 0; l < lanes; ++l) s[l].write_to(to + l * vectors_at_once);
    }
}

/// As add_plainly, of vectors that lie side by side.
template <std::size_t bytes, class E, class V>
NZ_ALWAYS_INLINE void add_vectors(const E& e, const some_vectors<V>& x, bool fresh,
                                  lane_sums<V>& sums) {
    constexpr std::size_t n = bytes / sizeof(V);
    constexpr std::size_t most = bytes == 32 ? 8 : 16;  // sums in registers: AVX2 has 16
    std::size_t v = 0;
    for (; v + 4 * n <= x.count; v += 4 * n)
        add_registers<bytes, most / 4, 4>(e, x.first + v, x.row, fresh, sums.of(0) + v);
    for (; v + 2 * n <= x.count; v += 2 * n)
        add_registers<bytes, most / 2, 2>(e, x.first + v, x.row, fresh, sums.of(0) + v);
    for (; v + n <= x.count; v += n)
        add_registers<bytes, 8, 1>(e, x.first + v, x.row, fresh, sums.of(0) + v);
    if constexpr (bytes > 16)
        for (; v + n / 2 <= x.count; v += n / 2)
            add_registers<bytes / 2, 8, 1>(e, x.first + v, x.row, fresh, sums.of(0) + v);
    if constexpr (bytes > 32)
        for (; v + n / 4 <= x.count; v += n / 4)
            add_registers<bytes / 4, 8, 1>(e, x.first + v, x.row, fresh, sums.of(0) + v);
    for (; v < x.count; ++v)
        add_registers<sizeof(V), 8, 1>(e, x.first + v, x.row, fresh, sums.of(0) + v);
}

template <std::size_t bytes, class V>
NZ_ALWAYS_INLINE void store_vectors(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    constexpr std::size_t n = bytes / sizeof(V);
    std::size_t v = 0;
    for (; v + n <= count; v += n) {
        simd_vector<V, bytes> s;
        read(sums + v, s);
        write_scaled(alpha, s, beta, y + v);
    }
    store_plainly(alpha, sums + v, beta, y + v, count - v, 1);
}

template <class E, class V>
NZ_LANES void add_by_lanes(const E& e, const some_vectors<V>& x, bool fresh, lane_sums<V>& sums) {
    add_vectors<lane_register_bytes>(e, x, fresh, sums);
}
template <class V>
NZ_LANES void store_by_lanes(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    store_vectors<lane_register_bytes>(alpha, sums, beta, y, count);
}
#endif
#if defined(NZ_AVX512)
template <class E, class V>
NZ_AVX512 void add_avx512(const E& e, const some_vectors<V>& x, bool fresh, lane_sums<V>& sums) {
    add_vectors<64>(e, x, fresh, sums);
}
template <class V>
NZ_AVX512 void store_avx512(V alpha, const V* sums, V beta, V* y, std::size_t count) {
    store_vectors<64>(alpha, sums, beta, y, count);
}
#endif

/// Loops that give the same bits each.
enum class loops { plain, by_lanes, avx512 };
template <class V>
loops fastest_loops() {
    if constexpr (std::floating_point<V>) {
#if defined(NZ_AVX512)
        if (has_avx512()) return loops::avx512;
#endif
#if defined(NZ_LANES)
        if (has_lanes()) return loops::by_lanes;
#endif
    }
    return loops::plain;
}

/// The product in the making, for some of the vectors.
template <class V>
class product_of_some {
  public:
    /// Of vectors_at_once at most.
    product_of_some(V alpha, const packed<V, host_view>& A, const in_columns<V, cpu>& X, V beta,
                    const out_columns<V, cpu>& Y)
        : A_(A),
          alpha_(alpha),
          beta_(beta),
          x_{X.values.data(), X.row_stride(), X.vector_stride(), std::size_t(Y.count)},
          y_(Y.values.data()),
          y_row_(Y.row_stride()),
          y_vector_(Y.vector_stride()),
          loops_(fastest_loops<V>()) {}

    /// A chunk of whole rows, or of a segment: the sums of a row's are added.
    template <class D>
    void multiply(const packed_chunk& c, D value) {
        if constexpr (D::may_tile)
            if (is_tile(c.kind)) return multiply_tile(c, value);
        add_chunk(c, value);
        if (c.segments > 0 && c.number + 1 < c.segments) return;
        for (std::size_t r = 0; r < c.rows; ++r) {
            add_lanes(r << c.log_lanes, std::size_t(1) << c.log_lanes);
            store(c.sorted ? A_.perm[std::size_t(c.number) + r] : c.first_row + index(r),
                  sums_.of(r << c.log_lanes));
        }
    }

  private:
    template <class E>
    void add(const E& e, bool fresh) {
#if defined(NZ_LANES)
        if constexpr (std::floating_point<V>)
            if (x_.vector == 1) {
#if defined(NZ_AVX512)
                if (loops_ == loops::avx512) return add_avx512(e, x_, fresh, sums_);
#endif
                if (loops_ == loops::by_lanes) return add_by_lanes(e, x_, fresh, sums_);
            }
#endif
        add_plainly(e, x_, fresh, sums_);
    }

    template <class D>
    void add_chunk(const packed_chunk& c, D value) {
        const std::uint32_t* const code =
            A_.indices.data() + std::size_t(c.index_at) * packed_index_unit;
        const std::size_t at = std::size_t(c.val_at) * packed_value_unit;
        const bool fresh = c.segments == 0 || c.number == 0;
        if (c.width == 0) {  // X may have no element that a pointer could point to
            if (fresh) clear();
            return;
        }
        switch (c.kind) {
            case packed_chunk::constant_diagonals:
                return add(diagonal_entries<true, D, V>{code, c.first_row, value, at, c.width},
                           fresh);
            case packed_chunk::diagonals:
                return add(diagonal_entries<false, D, V>{code, c.first_row, value, at, c.width},
                           fresh);
            case packed_chunk::delta16:
                return add(
                    listed_entries<std::uint16_t, D>{reinterpret_cast<const std::uint16_t*>(code),
                                                     c.base, value, at, c.width},
                    fresh);
            default:
                return add(listed_entries<std::uint32_t, D>{code, c.base, value, at, c.width},
                           fresh);
        }
    }

    void clear() {
        for (std::size_t l = 0; l < lanes_of_chunk; ++l) std::fill_n(sums_.of(l), x_.count, V(0));
    }

    template <class D>
    void multiply_tile(const packed_chunk& c, D value) {
        const index end = c.first_row + index(c.rows);
        index row = c.first_row;
        V* const sums = sums_.of(0);
        std::fill_n(sums, x_.count, V(0));
        const auto go_to = [&](index i) {
            for (; row < i; ++row) {
                store(row, sums);
                std::fill_n(sums, x_.count, V(0));
            }
        };
        for_each_of_tile(A_, c, value, [&](index i, index j, V a) {
            go_to(i);
            const V* const from = x_.first + std::size_t(j) * x_.row;
            for (std::size_t v = 0; v < x_.count; ++v) sums[v] += product(a, from[v * x_.vector]);
        });
        go_to(end);
    }

    /// The sums of neighbouring lanes, in order, to those of the first.
    void add_lanes(std::size_t first, std::size_t count) {
        V* const to = sums_.of(first);
        for (std::size_t l = 1; l < count; ++l)
            for (std::size_t v = 0; v < x_.count; ++v) to[v] += sums_.of(first + l)[v];
    }

    void store(index i, const V* sums) {
        V* const to = y_ + std::size_t(i) * y_row_;
#if defined(NZ_LANES)
        if constexpr (std::floating_point<V>)
            if (y_vector_ == 1) {
#if defined(NZ_AVX512)
                if (loops_ == loops::avx512) return store_avx512(alpha_, sums, beta_, to, x_.count);
#endif
                if (loops_ == loops::by_lanes)
                    return store_by_lanes(alpha_, sums, beta_, to, x_.count);
            }
#endif
        store_plainly(alpha_, sums, beta_, to, x_.count, y_vector_);
    }

    const packed<V, host_view>& A_;
    V alpha_, beta_;
    some_vectors<V> x_;
    V* y_;
    std::size_t y_row_, y_vector_;  ///< strides
    loops loops_;
    lane_sums<V> sums_;
};

}  // namespace

template <class V>
void spmm_row_major(cpu on, V alpha, const packed<V, host_view>& A, in_columns<V, cpu> X, V beta,
                    out_columns<V, cpu> Y) {
    const int threads = thread_count(on);
    with_decoder(A, [&](auto value) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            for (index v = 0; v < Y.count; v += index(vectors_at_once)) {
                const index count = std::min(index(vectors_at_once), Y.count - v);
                product_of_some<V> some(alpha, A, some_of(X, v, count), beta, some_of(Y, v, count));
                for (const auto chunks : share_of(A, t, threads))
                    for (const packed_chunk& c : chunks) some.multiply(c, value);
            }
    });
}

#define NZ_INSTANTIATE(V)                                                                    \
    template void spmm_row_major(cpu, V, const packed<V, host_view>&, in_columns<V, cpu>, V, \
                                 out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
