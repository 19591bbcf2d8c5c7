#include "nonzero/formats/icrs/icrs.hpp"

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// The cost with groups of matrix_stats::groups[g] rows.
template <class V>
estimate cost_of_groups(const matrix_stats& s, std::size_t g) {
    const double stored = double(s.group_width[g]) * double(matrix_stats::groups[g]);
    return {.matrix_bytes = stored * (sizeof(V) + sizeof(index)) + double(s.rows) * sizeof(index) +
                            offset_bytes(double(s.rows), stored),
            .vector_bytes = vector_bytes<V>(s),
            .declined = declined_padding(stored, double(s.nnz))};
}

}  // namespace

template <class V, class S>
estimate icrs<V, S>::cost(const matrix_stats& s) {
    static_assert(matrix_stats::groups[1] == default_interleave);
    return cost_of_groups<V>(s, 1);
}

template <class V>
estimate icrs_row_32::cost(const matrix_stats& s) {
    static_assert(matrix_stats::groups[0] == 32);
    return cost_of_groups<V>(s, 0);
}

template <class V, class S>
icrs<V, host> icrs<V, S>::from(const csr<V, host_view>& A, index interleave) {
    if (interleave < 1)
        throw argument_error("icrs: interleave is " + std::to_string(interleave) +
                             ", expected at least 1");
    const std::int64_t rows = A.shape.rows, groups = (rows + interleave - 1) / interleave;
    host_vector<offset> group_start(std::size_t(groups) + 1, 0), start(std::size_t(rows), 0);
    icrs<V, host> B{A.shape, interleave, host_vector<index>(std::size_t(rows)), {}, {}, {}};
    for (std::int64_t g = 0; g < groups; ++g) {
        const std::int64_t first = g * interleave, last = std::min(first + interleave, rows);
        const offset begin = group_start[std::size_t(g)];
        group_start[std::size_t(g) + 1] = begin + offset(interleave) * longest_row(A, first, last);
        for (std::int64_t i = first; i < last; ++i) {
            B.row_count[std::size_t(i)] = longest_row(A, i, i + 1);
            start[std::size_t(i)] = begin + i - first;
        }
    }
    const offset stored = group_start.back();
    check_padding("icrs", stored, A);
    B.row_start = stored > offset_vector::max_narrow ? offset_vector::wide(std::move(start))
                                                     : offset_vector(start);
    B.col_ind.resize(std::size_t(stored)), B.val.resize(std::size_t(stored));
    parallel_for(thread_count({}), groups, 8, [&](std::int64_t g) {
        const offset begin = group_start[std::size_t(g)];
        const auto row_of = [&](std::int64_t r) {
            return g * interleave + r < rows ? index(g * interleave + r) : index(-1);
        };
        fill_panel(A, row_of, interleave, interleave,
                   (group_start[std::size_t(g) + 1] - begin) / interleave, B.col_ind.data() + begin,
                   B.val.data() + begin);
    });
    return B;
}

namespace {

/// Rows that go together as far as all of them reach; the more, the sooner one is the shortest.
constexpr std::int64_t rows_at_once = 32;

/// The rows [first, last), at most rows_at_once and of one group, of y = alpha A x + beta y:
/// together as far as all of them reach, then what is left of each, so that no padding is read.
template <class V>
void multiply_block(V alpha, const icrs<V, host_view>& A, const V* x, V beta, V* y,
                    std::int64_t first, std::int64_t last) {
    const index* const count = A.row_count.data() + first;
    // Rows without entries may start behind the arrays.
    const auto start = std::min(std::size_t(A.row_start[std::size_t(first)]), A.col_ind.size());
    const index* const col_ind = A.col_ind.data() + start;
    const V* const val = A.val.data() + start;
    const std::int64_t rows = last - first, common = *std::min_element(count, count + rows);
    std::array<V, rows_at_once> sums;
    sums.fill(V(0));
    multiply_panel<V>({col_ind, val, rows, A.interleave, common}, x, sums.data());
    for (std::int64_t r = 0; r < rows; ++r) {
        V sum = sums[std::size_t(r)];
        for (std::int64_t k = common; k < count[r]; ++k) {
            const std::int64_t at = r + k * A.interleave;
            sum += product(val[at], x[col_ind[at]]);
        }
        y[first + r] = scaled(alpha, sum, beta, y[first + r]);
    }
}

/// The rows [first, last) of y = alpha A x + beta y.
template <class V>
void multiply_rows(V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
                   std::span<V> y, std::int64_t first, std::int64_t last) {
    while (first < last) {
        const std::int64_t group_end = (first / A.interleave + 1) * A.interleave;
        const std::int64_t end = std::min({first + rows_at_once, group_end, last});
        multiply_block(alpha, A, x.data(), beta, y.data(), first, end);
        first = end;
    }
}

template <class V>
void multiply_shares(cpu on, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
                     std::span<V> y) {
    const int threads = thread_count(on);
#pragma omp parallel for schedule(static, 1) num_threads(threads)
    for (int t = 0; t < threads; ++t) {
        const range rows = share(A.shape.rows, threads, t);
        multiply_rows(alpha, A, x, beta, y, rows.first, rows.last);
    }
}

}  // namespace

template <class V>
void spmv(cpu, icrs_serial, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_rows(alpha, A, x, beta, y, 0, A.shape.rows);
}

template <class V>
void spmv(cpu on, icrs_row, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_shares(on, alpha, A, x, beta, y);
}

template <class V>
void spmv(cpu on, icrs_row_32, V alpha, const icrs<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_shares(on, alpha, A, x, beta, y);
}

#define NZ_INSTANTIATE(V)                                                                     \
    template estimate icrs<V, host>::cost(const matrix_stats&);                               \
    template estimate icrs_row_32::cost<V>(const matrix_stats&);                              \
    template icrs<V, host> icrs<V, host>::from(const csr<V, host_view>&, index);              \
    template void spmv(cpu, icrs_serial, V, const icrs<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                         \
    template void spmv(cpu, icrs_row, V, const icrs<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);                                                         \
    template void spmv(cpu, icrs_row_32, V, const icrs<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
