// csr.balanced with several vectors on the CPU: SIMD runs along row-major vectors, whose sums stay
// in registers while a row's entries pass.
#include <algorithm>
#include <array>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/formats/csr/balanced_rows.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/simd/targets.hpp"
#include "nonzero/formats/turned_columns.hpp"

namespace nz {
namespace {

/// The rows of a thread and the vectors of one pass over them.
template <class V, class P>
struct rows_and_vectors {
    const P* row_ptr;
    const index* col_ind;
    const V* val;
    std::int64_t first, last;  ///< rows
    V alpha;
    const V* x;
    std::size_t x_row, x_vector;  ///< from one row to the next, from one vector to the next
    std::size_t x_first;          ///< element of the first vector
    V beta;
    V* y;
    std::size_t y_row, y_vector, y_first;
};

/// `count` vectors in any order. Entry after entry for each vector, as below.
template <std::size_t count, class V, class P>
void multiply_plainly(const rows_and_vectors<V, P>& p) {
    for (std::int64_t i = p.first; i < p.last; ++i) {
        std::array<V, count> sums{};
        for (P k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
            const V* const x = p.x + std::size_t(p.col_ind[k]) * p.x_row + p.x_first;
            NZ_UNROLL
            for (std::size_t v = 0; v < count; ++v) sums[v] += product(p.val[k], x[v * p.x_vector]);
        }
        V* const y = p.y + std::size_t(i) * p.y_row + p.y_first;
        for (std::size_t v = 0; v < count; ++v)
            y[v * p.y_vector] = scaled(p.alpha, sums[v], p.beta, y[v * p.y_vector]);
    }
}

#if defined(NZ_LANES)
/// `registers` registers of vectors that lie by rows.
template <std::size_t bytes, std::size_t registers, class V, class P>
NZ_ALWAYS_INLINE void multiply_registers(const rows_and_vectors<V, P>& p) {
    using vec = simd_vector<V, bytes>;
    for (std::int64_t i = p.first; i < p.last; ++i) {
        vec s[registers] = {};
        for (P k = p.row_ptr[i]; k < p.row_ptr[i + 1]; ++k) {
            const V* const x = p.x + std::size_t(p.col_ind[k]) * p.x_row + p.x_first;
            const V a = p.val[k];
            NZ_UNROLL
            for (std::size_t l = 0; l < registers; ++l) {
                vec r;
                read(x + l * (bytes / sizeof(V)), r);
                s[l] += a * r;
            }
        }
        V* const y = p.y + std::size_t(i) * p.y_row + p.y_first;
        NZ_UNROLL
        for (std::size_t l = 0; l < registers; ++l)
            write_scaled(p.alpha, s[l], p.beta, y + l * (bytes / sizeof(V)));
    }
}

template <std::size_t registers, class V, class P>
NZ_LANES void multiply_by_lanes(const rows_and_vectors<V, P>& p) {
    multiply_registers<lane_register_bytes, registers>(p);
}
#endif
#if defined(NZ_AVX512)
template <std::size_t registers, class V, class P>
NZ_AVX512 void multiply_avx512(const rows_and_vectors<V, P>& p) {
    multiply_registers<64, registers>(p);
}
#endif

/// A loop over rows that multiplies `count` vectors.
template <class V, class P>
struct rows_loop {
    std::size_t count;
    void (*run)(const rows_and_vectors<V, P>&);
};

/// Those that this machine has for vectors that lie by rows, most vectors first.
template <class V, class P>
std::span<const rows_loop<V, P>> loops_by_rows() {
#if defined(NZ_LANES)
    if constexpr (std::floating_point<V>) {
        constexpr std::size_t n = lane_register_bytes / sizeof(V);
#if defined(NZ_AVX512)
        static constexpr rows_loop<V, P> avx512[] = {
            {16 * n, multiply_avx512<8, V, P>}, {8 * n, multiply_avx512<4, V, P>},
            {4 * n, multiply_avx512<2, V, P>},  {2 * n, multiply_avx512<1, V, P>},
            {n, multiply_by_lanes<1, V, P>},    {4, multiply_plainly<4, V, P>},
            {2, multiply_plainly<2, V, P>},     {1, multiply_plainly<1, V, P>}};
        if (has_avx512()) return avx512;
#endif
        static constexpr rows_loop<V, P> by_lanes[] = {
            {8 * n, multiply_by_lanes<8, V, P>}, {4 * n, multiply_by_lanes<4, V, P>},
            {2 * n, multiply_by_lanes<2, V, P>}, {n, multiply_by_lanes<1, V, P>},
            {4, multiply_plainly<4, V, P>},      {2, multiply_plainly<2, V, P>},
            {1, multiply_plainly<1, V, P>}};
        if (has_lanes()) return by_lanes;
    }
#endif
    static constexpr rows_loop<V, P> plain[] = {{4, multiply_plainly<4, V, P>},
                                                {2, multiply_plainly<2, V, P>},
                                                {1, multiply_plainly<1, V, P>}};
    return plain;
}

/// All vectors over the rows [first, last), as many at once as a loop takes.
template <class V, class P>
void multiply_rows(rows_and_vectors<V, P> p, std::size_t vectors,
                   std::span<const rows_loop<V, P>> loops) {
    for (const auto& loop : loops)
        for (; vectors >= loop.count; vectors -= loop.count) {
            loop.run(p);
            p.x_first += loop.count * p.x_vector, p.y_first += loop.count * p.y_vector;
        }
}

constexpr std::size_t turned_rows = 64;  ///< of Y, which wait in L1

/// At most turned_vectors by rows, into a Y of any order: some rows' products at a time wait in L1.
template <class V, class P>
void multiply_tiles(const rows_and_vectors<V, P>& p, std::size_t vectors,
                    std::span<const rows_loop<V, P>> loops) {
    alignas(64) std::array<V, turned_rows * turned_vectors> tile;
    for (std::int64_t first = p.first; first < p.last; first += std::int64_t(turned_rows)) {
        const std::int64_t rows = std::min(std::int64_t(turned_rows), p.last - first);
        multiply_rows<V, P>({p.row_ptr + first, p.col_ind, p.val, 0, rows, p.alpha, p.x, p.x_row, 1,
                             p.x_first, V(0), tile.data(), vectors, 1, 0},
                            vectors, loops);
        for (std::size_t v = 0; v < vectors; ++v) {
            V* const y = p.y + std::size_t(first) * p.y_row + p.y_first + v * p.y_vector;
            for (std::size_t i = 0; i < std::size_t(rows); ++i) {
                const V sum = tile[i * vectors + v];
                y[i * p.y_row] = p.beta == V(0) ? sum : sum + p.beta * y[i * p.y_row];
            }
        }
    }
}

/// f(rows) for the rows of each thread.
template <class P, class F>
void for_each_share(cpu on, const P* row_ptr, index rows, F f) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) f(balanced_rows(row_ptr, rows, threads, t));
}

/// X by rows, as it lies or turned, some vectors after the other; Y in any order.
template <class V, class P>
void multiply_turned(cpu on, const P* row_ptr, V alpha, const csr<V, host_view>& A,
                     const in_columns<V, cpu>& X, V beta, const out_columns<V, cpu>& Y) {
    const auto cols = std::size_t(A.shape.cols);
    for_some_by_rows<V>(on, X, cols, [&](const in_columns<V, cpu>& some, index first) {
        for_each_share(on, row_ptr, A.shape.rows, [&](range rows) {
            multiply_tiles<V, P>(
                {row_ptr, A.col_ind.data(), A.val.data(), rows.first, rows.last, alpha,
                 some.values.data(), some.row_stride(), 1, 0, beta, Y.values.data(), Y.row_stride(),
                 Y.vector_stride(), std::size_t(first) * Y.vector_stride()},
                std::size_t(some.count), loops_by_rows<V, P>());
        });
    });
}

}  // namespace

template <class V>
void spmv_many(cpu on, csr_balanced, V alpha, const csr<V, host_view>& A, in_columns<V, cpu> X,
               V beta, out_columns<V, cpu> Y) {
    A.row_ptr.visit([&](const auto* row_ptr) {
        using P = std::remove_cvref_t<decltype(*row_ptr)>;
        const bool by_rows = X.by_row() && Y.by_row();
        if (!by_rows && (X.by_row() || turning_pays<V>(std::ssize(A.val), A.shape.cols, X.count)))
            return multiply_turned(on, row_ptr, alpha, A, X, beta, Y);
        static constexpr rows_loop<V, P> in_any_order[] = {{4, multiply_plainly<4, V, P>},
                                                           {2, multiply_plainly<2, V, P>},
                                                           {1, multiply_plainly<1, V, P>}};
        const auto loops =
            by_rows ? loops_by_rows<V, P>() : std::span<const rows_loop<V, P>>(in_any_order);
        for_each_share(on, row_ptr, A.shape.rows, [&](range rows) {
            multiply_rows<V, P>({row_ptr, A.col_ind.data(), A.val.data(), rows.first, rows.last,
                                 alpha, X.values.data(), X.row_stride(), X.vector_stride(), 0, beta,
                                 Y.values.data(), Y.row_stride(), Y.vector_stride(), 0},
                                std::size_t(Y.count), loops);
        });
    });
}

#define NZ_INSTANTIATE(V)                                                                          \
    template void spmv_many(cpu, csr_balanced, V, const csr<V, host_view>&, in_columns<V, cpu>, V, \
                            out_columns<V, cpu>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
