// Products that scatter into y: A^T x from any layout, and A x from one stored by columns.
#pragma once

#include <algorithm>

#include "nonzero/core/format.hpp"
#include "nonzero/core/threads.hpp"
#include "nonzero/formats/csr/to_csr.hpp"

namespace nz {

/// Bytes of cpu::scratch that `scatter` needs for y of `len` elements: a y of its own a thread.
template <class V>
std::size_t scatter_scratch_bytes(cpu on, std::size_t len) {
    return std::size_t(thread_count(on)) * len * sizeof(V);
}

/// y = alpha s + beta y, s the sum of what the threads have in `sums`, one after the other.
template <class V>
void add_threads(int threads, V alpha, const V* sums, V beta, std::span<V> y) {
    const auto len = std::int64_t(y.size());
#pragma omp parallel for schedule(static) num_threads(threads)
    for (std::int64_t i = 0; i < len; ++i) {
        V sum = sums[i];
        for (int t = 1; t < threads; ++t) sum += sums[std::int64_t(t) * len + i];
        y[std::size_t(i)] = scaled(alpha, sum, beta, y[std::size_t(i)]);
    }
}

/// y = alpha op(A) x + beta y from any host view with piece_count and for_each_entry: every thread
/// adds its pieces into a y of its own, and those are summed in the order of the threads.
/// Deterministic for one number of threads. x: rows, y: cols where op transposes.
template <class F, class V = typename F::value>
void scatter(cpu on, transposition op, V alpha, const F& A, std::span<const V> x, V beta,
             std::span<V> y) {
    const int threads = thread_count(on);
    const auto add_pieces = [&](int part, V* to) {
        const range pieces = share(piece_count(A), threads, part);
        for_each_entry(A, pieces.first, pieces.last, [&](index i, index j, V v) {
            if (op != transposition::plain) std::swap(i, j);
            to[std::size_t(i)] += product(conjugated(op, v), x[std::size_t(j)]);
        });
    };
    const auto len = std::int64_t(y.size());
    V* const sums = reinterpret_cast<V*>(on.scratch.data());
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
        std::fill_n(sums + std::int64_t(t) * len, len, V(0));
        add_pieces(t, sums + std::int64_t(t) * len);
    }
    add_threads(threads, alpha, sums, beta, y);
}

}  // namespace nz
