#include "nonzero/formats/dia/dia.hpp"

#include <algorithm>
#include <array>
#include <atomic>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {

template <class V, class S>
estimate dia<V, S>::cost(const matrix_stats& s) {
    const double diagonals = double(s.diagonals);
    const double each = double(round_up_to_warp(s.rows)) * sizeof(V) +
                        double(round_up_to_warp(s.rows) / warp_rows) * sizeof(std::uint32_t) +
                        sizeof(index);
    return {.matrix_bytes = diagonals * each,
            .vector_bytes = vector_bytes<V>(s),
            .declined = declined_padding(diagonals * double(s.rows), double(s.nnz))};
}

namespace {

/// Column minus row of the occupied diagonals, ascending.
template <class V>
host_vector<index> occupied_diagonals(const csr<V, host_view>& A) {
    const std::int64_t rows = A.shape.rows, cols = A.shape.cols;
    std::vector<std::atomic<bool>> seen(std::size_t(rows + cols));
    parallel_for(thread_count({}), rows, [&](std::int64_t i) {
        for_each_entry(A, i, i + 1, [&](index, index j, V) {
            auto& mark = seen[std::size_t(j - i + rows)];
            if (!mark.load(std::memory_order_relaxed)) mark.store(true, std::memory_order_relaxed);
        });
    });
    host_vector<index> offsets;
    for (std::int64_t d = 1; d < rows + cols; ++d)
        if (seen[std::size_t(d)]) offsets.push_back(index(d - rows));
    return offsets;
}

/// Writes word w of every diagonal: 32 rows of it, and which of them are stored.
template <class V>
void fill_word(dia<V, host>& D, const csr<V, host_view>& A, std::int64_t w,
               const std::vector<index>& diagonal_at) {
    const std::int64_t first = w * warp_rows;
    const std::int64_t last = std::min<std::int64_t>(first + warp_rows, A.shape.rows);
    for (std::size_t d = 0; d < D.offsets.size(); ++d) {
        const std::int64_t start = std::int64_t(d) * D.pitch + first;
        std::fill_n(D.diagonals.begin() + start, warp_rows, V(0));
        D.stored[std::size_t(start / warp_rows)] = 0;
    }
    for_each_entry(A, first, last, [&](index i, index j, V v) {
        const std::int64_t d = diagonal_at[std::size_t(std::int64_t(j) - i + A.shape.rows)];
        D.diagonals[std::size_t(d * D.pitch + i)] = v;
        D.stored[std::size_t(d * (D.pitch / warp_rows) + w)] |= 1U << (i % warp_rows);
    });
}

}  // namespace

template <class V, class S>
dia<V, host> dia<V, S>::from(const csr<V, host_view>& A) {
    const std::int64_t rows = A.shape.rows;
    host_vector<index> offsets = occupied_diagonals(A);
    const std::string declined =
        declined_padding(double(offsets.size()) * double(rows), double(A.val.size()));
    if (!declined.empty()) throw argument_error("dia: " + declined);
    std::vector<index> diagonal_at(std::size_t(rows + A.shape.cols), 0);
    for (std::size_t d = 0; d < offsets.size(); ++d)
        diagonal_at[std::size_t(offsets[d] + rows)] = index(d);
    const offset pitch = round_up_to_warp(rows);
    const std::size_t size = offsets.size() * std::size_t(pitch);
    dia<V, host> D{A.shape, pitch, std::move(offsets), host_vector<V>(size),
                   host_vector<std::uint32_t>(size / std::size_t(warp_rows))};
    parallel_for(thread_count({}), pitch / warp_rows,
                 [&](std::int64_t w) { fill_word(D, A, w, diagonal_at); });
    return D;
}

namespace {

/// Words, of 32 rows each, whose sums are kept at a time: they stay in L1.
constexpr std::int64_t words_at_once = 16;

/// sums += one word of one diagonal times x; its first row meets x[shift], which may lie outside.
template <class V>
void add_word(std::uint32_t bits, const V* diagonal, const V* x, std::int64_t shift, V* sums) {
    if (bits == ~std::uint32_t(0)) {
#pragma omp simd
        for (std::int64_t i = 0; i < warp_rows; ++i) sums[i] += product(diagonal[i], x[shift + i]);
        return;
    }
    for (; bits != 0; bits &= bits - 1) {
        const int i = std::countr_zero(bits);
        sums[i] += product(diagonal[i], x[shift + i]);
    }
}

/// The rows of the words [first, last) of y = alpha A x + beta y.
template <class V>
void multiply_words(V alpha, const dia<V, host_view>& A, std::span<const V> x, V beta,
                    std::span<V> y, std::int64_t first, std::int64_t last) {
    std::array<V, words_at_once * warp_rows> sums;
    for (; first < last; first += words_at_once) {
        const std::int64_t n = std::min(words_at_once, last - first), row = first * warp_rows;
        std::fill_n(sums.begin(), n * warp_rows, V(0));
        for (std::size_t d = 0; d < A.offsets.size(); ++d) {
            const std::int64_t start = std::int64_t(d) * A.pitch + row;
            const std::uint32_t* const stored = A.stored.data() + start / warp_rows;
            for (std::int64_t w = 0; w < n; ++w)
                add_word(stored[w], A.diagonals.data() + start + w * warp_rows, x.data(),
                         row + w * warp_rows + A.offsets[d], sums.data() + w * warp_rows);
        }
        const std::int64_t rows = std::min(n * warp_rows, A.shape.rows - row);
        V* const to = y.data() + row;
        for (std::int64_t i = 0; i < rows; ++i)
            to[i] = scaled(alpha, sums[std::size_t(i)], beta, to[i]);
    }
}

}  // namespace

template <class V>
void spmv(cpu, dia_serial, V alpha, const dia<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_words(alpha, A, x, beta, y, 0, piece_count(A));
}

template <class V>
void spmv(cpu on, dia_row, V alpha, const dia<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
        const range words = share(piece_count(A), threads, t);
        multiply_words(alpha, A, x, beta, y, words.first, words.last);
    }
}

#define NZ_INSTANTIATE(V)                                                                   \
    template estimate dia<V, host>::cost(const matrix_stats&);                              \
    template dia<V, host> dia<V, host>::from(const csr<V, host_view>&);                     \
    template void spmv(cpu, dia_serial, V, const dia<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                       \
    template void spmv(cpu, dia_row, V, const dia<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
