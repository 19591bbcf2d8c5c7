#include "nonzero/formats/jds/jds.hpp"

#include <array>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/row_order.hpp"

namespace nz {

template <class V, class S>
estimate jds<V, S>::cost(const matrix_stats& s) {
    const double nnz = double(s.nnz);
    return {.matrix_bytes = nnz * (sizeof(V) + sizeof(index)) + double(s.rows) * sizeof(index) +
                            offset_bytes(double(s.rows) + 1, nnz),
            .vector_bytes = vector_bytes<V>(s)};
}

template <class V, class S>
jds<V, host> jds<V, S>::from(const csr<V, host_view>& A) {
    const auto rows = std::size_t(A.shape.rows);
    jds<V, host> B{A.shape,
                   rows_by_length(A.row_ptr, std::max(A.shape.rows, index(1))),
                   {},
                   host_vector<index>(A.col_ind.size()),
                   host_vector<V>(A.val.size())};
    host_vector<offset> ptr(rows + 1, 0);
    for (std::size_t r = 0; r < rows; ++r) {
        const auto i = std::size_t(B.perm[r]);
        ptr[r + 1] = ptr[r] + A.row_ptr[i + 1] - A.row_ptr[i];
    }
    parallel_for(thread_count({}), A.shape.rows, [&](std::int64_t r) {
        const offset from = A.row_ptr[std::size_t(B.perm[std::size_t(r)])];
        const offset to = ptr[std::size_t(r)], length = ptr[std::size_t(r) + 1] - to;
        std::copy_n(A.col_ind.data() + from, length, B.col_ind.data() + to);
        std::copy_n(A.val.data() + from, length, B.val.data() + to);
    });
    B.row_ptr = offset_vector(ptr);
    return B;
}

template <class V, class S>
estimate jds_transposed<V, S>::cost(const matrix_stats& s) {
    const double nnz = double(s.nnz);
    return {.matrix_bytes = nnz * (sizeof(V) + sizeof(index)) + double(s.rows) * sizeof(index) +
                            offset_bytes(double(s.max_row_nnz()) + 1, nnz),
            .vector_bytes = vector_bytes<V>(s)};
}

template <class V, class S>
jds_transposed<V, host> jds_transposed<V, S>::from(const csr<V, host_view>& A) {
    const std::int64_t rows = A.shape.rows;
    jds_transposed<V, host> B{A.shape,
                              rows_by_length(A.row_ptr, std::max(A.shape.rows, index(1))),
                              {},
                              host_vector<index>(A.col_ind.size()),
                              host_vector<V>(A.val.size())};
    const auto begin = [&](std::int64_t r) {
        return A.row_ptr[std::size_t(B.perm[std::size_t(r)])];
    };
    const auto length = [&](std::int64_t r) {
        return A.row_ptr[std::size_t(B.perm[std::size_t(r)]) + 1] - begin(r);
    };
    const offset diagonals = rows == 0 ? 0 : length(0);
    host_vector<offset> ptr(std::size_t(diagonals) + 1, 0);
    std::int64_t reaching = rows;  // how many rows reach diagonal d
    for (offset d = 0; d < diagonals; ++d) {
        while (length(reaching - 1) <= d) --reaching;
        ptr[std::size_t(d) + 1] = ptr[std::size_t(d)] + reaching;
    }
    parallel_for(thread_count({}), rows, 256, [&](std::int64_t r) {
        for (offset k = 0; k < length(r); ++k) {
            const auto to = std::size_t(ptr[std::size_t(k)] + r);
            B.col_ind[to] = A.col_ind[std::size_t(begin(r) + k)];
            B.val[to] = A.val[std::size_t(begin(r) + k)];
        }
    });
    B.jd_ptr = offset_vector(ptr);
    return B;
}

namespace {

/// The sorted rows [first, last) of y = alpha A x + beta y.
template <class V, class P>
void multiply_rows(const P* row_ptr, V alpha, const jds<V, host_view>& A, std::span<const V> x,
                   V beta, std::span<V> y, std::int64_t first, std::int64_t last) {
    for (std::int64_t r = first; r < last; ++r) {
        V sum(0);
        for (auto k = std::size_t(row_ptr[r]); k < std::size_t(row_ptr[r + 1]); ++k)
            sum += product(A.val[k], x[std::size_t(A.col_ind[k])]);
        V& to = y[std::size_t(A.perm[std::size_t(r)])];
        to = scaled(alpha, sum, beta, to);
    }
}

}  // namespace

template <class V>
void spmv(cpu, jds_serial, V alpha, const jds<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    A.row_ptr.visit(
        [&](const auto* ptr) { multiply_rows(ptr, alpha, A, x, beta, y, 0, A.shape.rows); });
}

template <class V>
void spmv(cpu on, jds_row, V alpha, const jds<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    const std::int64_t rows = A.shape.rows;
    A.row_ptr.visit([&](const auto* ptr) {
        // The first row that starts at or after the share of nonzeros of thread t.
        const auto first_row = [&](int t) -> std::int64_t {
            if (t == 0 || t == threads) return t == 0 ? 0 : rows;
            const offset target = share(offset(A.val.size()), threads, t).first;
            return std::lower_bound(ptr, ptr + rows, target) - ptr;
        };
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            multiply_rows(ptr, alpha, A, x, beta, y, first_row(t), first_row(t + 1));
    });
}

namespace {

/// Rows summed at once: their sums stay in L1, and a diagonal is read in runs
/// of some cache lines.
constexpr std::int64_t block_rows = 256;

/// The sorted rows [first, last), at most block_rows, of y = alpha A x + beta y.
template <class V, class P>
void multiply_block(const P* jd_ptr, V alpha, const jds_transposed<V, host_view>& A,
                    std::span<const V> x, V beta, std::span<V> y, std::int64_t first,
                    std::int64_t last) {
    std::array<V, block_rows> sums;
    std::fill_n(sums.begin(), last - first, V(0));
    for (std::size_t d = 0; d + 1 < A.jd_ptr.size(); ++d) {
        const std::int64_t start = jd_ptr[d], rows = jd_ptr[d + 1] - start;
        if (rows <= first) break;
        const index* const col_ind = A.col_ind.data() + start + first;
        const V* const val = A.val.data() + start + first;
        const auto here = std::size_t(std::min(last, rows) - first);
        for (std::size_t r = 0; r < here; ++r)
            sums[r] += product(val[r], x[std::size_t(col_ind[r])]);
    }
    for (std::int64_t r = first; r < last; ++r) {
        V& to = y[std::size_t(A.perm[std::size_t(r)])];
        to = scaled(alpha, sums[std::size_t(r - first)], beta, to);
    }
}

}  // namespace

template <class V>
void spmv(cpu on, jds_diagonals, V alpha, const jds_transposed<V, host_view>& A,
          std::span<const V> x, V beta, std::span<V> y) {
    const std::int64_t rows = A.shape.rows, blocks = (rows + block_rows - 1) / block_rows;
    A.jd_ptr.visit([&](const auto* jd_ptr) {
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(on))
        for (std::int64_t b = 0; b < blocks; ++b)
            multiply_block(jd_ptr, alpha, A, x, beta, y, b * block_rows,
                           std::min((b + 1) * block_rows, rows));
    });
}

#define NZ_INSTANTIATE(V)                                                                     \
    template estimate jds<V, host>::cost(const matrix_stats&);                                \
    template jds<V, host> jds<V, host>::from(const csr<V, host_view>&);                       \
    template estimate jds_transposed<V, host>::cost(const matrix_stats&);                     \
    template jds_transposed<V, host> jds_transposed<V, host>::from(const csr<V, host_view>&); \
    template void spmv(cpu, jds_serial, V, const jds<V, host_view>&, std::span<const V>, V,   \
                       std::span<V>);                                                         \
    template void spmv(cpu, jds_row, V, const jds<V, host_view>&, std::span<const V>, V,      \
                       std::span<V>);                                                         \
    template void spmv(cpu, jds_diagonals, V, const jds_transposed<V, host_view>&,            \
                       std::span<const V>, V, std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
