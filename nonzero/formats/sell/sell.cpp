#include "nonzero/formats/sell/sell.hpp"

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/row_order.hpp"

namespace nz {

template <class V, class S>
estimate sell<V, S>::cost(const matrix_stats& s) {
    static_assert(matrix_stats::groups[0] == default_chunk);
    const std::int64_t chunks = (s.rows + default_chunk - 1) / default_chunk;
    const double stored = double(s.sorted_group_width) * default_chunk;
    const double bytes = stored * (sizeof(V) + sizeof(index)) +
                         double(chunks + s.rows) * sizeof(index) +
                         offset_bytes(double(chunks) + 1, stored);
    // Rows of equal length, by which conversions are measured, are sorted at once; others take 1.4
    // times as long in the mean (`bench/unseen_matrices.py tune`, EPYC).
    constexpr double sorting = 1.4;
    return {.matrix_bytes = bytes,
            .vector_bytes = vector_bytes<V>(s),
            .declined = declined_padding(stored, double(s.nnz)),
            .setup_bytes = sorting * (2 * csr<V, host>::cost(s).matrix_bytes + bytes)};
}

template <class V, class S>
sell<V, host> sell<V, S>::from(const csr<V, host_view>& A, index chunk, index sort_scope) {
    if (chunk < 1 || sort_scope < 1)
        throw argument_error("sell: chunk is " + std::to_string(chunk) + " and sort_scope " +
                             std::to_string(sort_scope) + ", expected at least 1");
    const std::int64_t rows = A.shape.rows, chunks = (rows + chunk - 1) / chunk;
    sell<V, host> B{A.shape,
                    chunk,
                    sort_scope,
                    {},
                    host_vector<index>(std::size_t(chunks)),
                    rows_by_length(A.row_ptr, sort_scope),
                    {},
                    {}};
    host_vector<offset> ptr(std::size_t(chunks) + 1, 0);
    for (std::int64_t c = 0; c < chunks; ++c) {
        index& width = B.chunk_width[std::size_t(c)] = 0;
        for (std::int64_t r = c * chunk; r < std::min((c + 1) * chunk, rows); ++r) {
            const std::int64_t i = B.perm[std::size_t(r)];
            width = std::max(width, longest_row(A, i, i + 1));
        }
        ptr[std::size_t(c) + 1] = ptr[std::size_t(c)] + std::int64_t(chunk) * width;
    }
    check_padding("sell", ptr.back(), A);
    B.chunk_ptr = offset_vector(ptr);
    B.col_ind.resize(std::size_t(ptr.back())), B.val.resize(std::size_t(ptr.back()));
    parallel_for(thread_count({}), chunks, 64, [&](std::int64_t c) {
        const auto row_of = [&](std::int64_t r) {
            const std::int64_t at = c * chunk + r;
            return at < rows ? B.perm[std::size_t(at)] : index(-1);
        };
        fill_panel(A, row_of, chunk, chunk, B.chunk_width[std::size_t(c)],
                   B.col_ind.data() + ptr[std::size_t(c)], B.val.data() + ptr[std::size_t(c)]);
    });
    return B;
}

namespace {

/// The rows of the chunks [first, last) of y = alpha A x + beta y.
template <class V>
void multiply_chunks(V alpha, const sell<V, host_view>& A, std::span<const V> x, V beta,
                     std::span<V> y, std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c) {
        const index* const row = A.perm.data() + c * A.chunk;
        for_each_sum(chunk(A, c), x.data(), [&](std::int64_t r, V sum) {
            V& to = y[std::size_t(row[r])];
            to = scaled(alpha, sum, beta, to);
        });
    }
}

}  // namespace

template <class V>
void spmv(cpu, sell_serial, V alpha, const sell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_chunks(alpha, A, x, beta, y, 0, piece_count(A));
}

template <class V>
void spmv(cpu on, sell_chunk, V alpha, const sell<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    const std::int64_t chunks = piece_count(A);
    A.chunk_ptr.visit([&](const auto* ptr) {
        // The first chunk that starts at or after the share of stored elements of thread t.
        const auto first_chunk = [&](int t) -> std::int64_t {
            if (t == 0 || t == threads) return t == 0 ? 0 : chunks;
            const offset target = share(offset(A.val.size()), threads, t).first;
            return std::lower_bound(ptr, ptr + chunks, target) - ptr;
        };
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            multiply_chunks(alpha, A, x, beta, y, first_chunk(t), first_chunk(t + 1));
    });
}

#define NZ_INSTANTIATE(V)                                                                     \
    template estimate sell<V, host>::cost(const matrix_stats&);                               \
    template sell<V, host> sell<V, host>::from(const csr<V, host_view>&, index, index);       \
    template void spmv(cpu, sell_serial, V, const sell<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                         \
    template void spmv(cpu, sell_chunk, V, const sell<V, host_view>&, std::span<const V>, V,  \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
