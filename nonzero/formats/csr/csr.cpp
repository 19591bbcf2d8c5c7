#include "nonzero/formats/csr/csr.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "nonzero/core/arithmetic.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/assembler.hpp"
#include "nonzero/formats/csr/balanced_rows.hpp"
#include "nonzero/formats/csr/kernels.hpp"
#include "nonzero/formats/csr/merge_path.hpp"
#include "nonzero/formats/row_ends.hpp"
#include "nonzero/formats/simd/simd.hpp"
#include "nonzero/vector/copied.hpp"

namespace nz {

template <class V, class S>
estimate csr<V, S>::cost(const matrix_stats& s) {
    const double nnz = double(s.nnz);
    const double bytes = nnz * (sizeof(V) + sizeof(index)) + offset_bytes(double(s.rows) + 1, nnz);
    return {.matrix_bytes = bytes,
            .vector_bytes = vector_bytes<V>(s),
            .setup_bytes = 2 * bytes};  // a copy
}

template <class V, class S>
csr<V, host> csr<V, S>::from(const csr<V, host_view>& A) {
    auto row_ptr = A.row_ptr.visit([&]<class P>(const P* p) {
        if constexpr (sizeof(P) == 4) {
            return offset_vector(copied(std::span(p, A.row_ptr.size())));
        } else {
            return offset_vector(std::span(p, A.row_ptr.size()));
        }
    });
    return {A.shape, std::move(row_ptr), copied(A.col_ind), copied(A.val)};
}

template <class V>
csr<V, host> assemble(shape shape, std::span<const index> row, std::span<const index> col,
                      std::span<const V> val) {
    if (row.size() != col.size() || row.size() != val.size())
        throw argument_error("assemble: row, col and val have lengths " +
                             std::to_string(row.size()) + ", " + std::to_string(col.size()) +
                             " and " + std::to_string(val.size()) + ", expected one length");
    if (shape.rows < 0 || shape.cols < 0) throw argument_error("assemble: a negative size");
    for (std::size_t k = 0; k < row.size(); ++k)
        if (row[k] < 0 || row[k] >= shape.rows || col[k] < 0 || col[k] >= shape.cols)
            throw argument_error("assemble: entry " + std::to_string(k) + " at (" +
                                 std::to_string(row[k]) + ", " + std::to_string(col[k]) +
                                 ") lies outside " + std::to_string(shape.rows) + " x " +
                                 std::to_string(shape.cols));
    assembler<V> to(shape, offset(row.size()));
    constexpr std::size_t piece = std::size_t(1) << 15;  // entries: they stay in the cache
    const auto pieces = std::int64_t((row.size() + piece - 1) / piece);
    parallel_for(thread_count({}), pieces, 1, [&](std::int64_t p) {
        const std::size_t first = std::size_t(p) * piece;
        const std::size_t n = std::min(piece, row.size() - first);
        to.add(p, row.subspan(first, n), col.subspan(first, n), val.subspan(first, n));
    });
    return to.finish();
}

namespace {

/// Rows from this length on are worth four sums at a time.
constexpr std::int64_t long_row = 32;

/// The product of x with the entries [k, end). A single sum would wait for each addition to finish
/// before the next: two run side by side, and four in long rows. In short rows, four cost more than
/// they gain.
template <class V, class P>
V dot(const index* col_ind, const V* val, const V* x, P k, P end) {
    const auto term = [&](P at) { return product(val[at], x[col_ind[at]]); };
    V even(0), odd(0);
    if (end - k >= long_row) {
        V third(0), fourth(0);
        for (; k + 4 <= end; k += 4)
            even += term(k), odd += term(k + 1), third += term(k + 2), fourth += term(k + 3);
        even += third, odd += fourth;
    }
    for (; k + 2 <= end; k += 2) even += term(k), odd += term(k + 1);
    if (k < end) even += term(k);
    return even + odd;
}

/// The rows [first, last) of y = alpha A x + beta y, where row i of A has the entries
/// [row_ptr[i], row_ptr[i + 1]); by SIMD where this machine has it.
template <class V, class P>
void multiply_rows(const P* row_ptr, V alpha, const csr<V, host_view>& A, std::span<const V> x,
                   V beta, V* y, std::int64_t first, std::int64_t last) {
    if constexpr (std::floating_point<V>)
        if (const auto loops = simd_rows_loops<V, P>(); !loops.empty()) {
            const bool streaming = A.val.size() * (sizeof(V) + sizeof(index)) >= out_of_cache_bytes;
            return loops.front()({row_ptr, A.col_ind.data(), A.val.data(), first, last, streaming},
                                 alpha, x.data(), beta, y);
        }
    for (std::int64_t i = first; i < last; ++i) {
        const V sum = dot(A.col_ind.data(), A.val.data(), x.data(), row_ptr[i], row_ptr[i + 1]);
        y[i] = scaled(alpha, sum, beta, y[i]);
    }
}

}  // namespace

template <class V>
void spmv(cpu, csr_serial, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    A.row_ptr.visit([&](const auto* row_ptr) {
        multiply_rows(row_ptr, alpha, A, x, beta, y.data(), 0, A.shape.rows);
    });
}

template <class V>
void spmv(cpu on, csr_static, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t) {
            const range rows = share(A.shape.rows, threads, t);
            multiply_rows(row_ptr, alpha, A, x, beta, y.data(), rows.first, rows.last);
        }
    });
}

template <class V>
void spmv(cpu on, csr_guided, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    constexpr std::int64_t run = 64;  // rows: the least a thread takes at once
    const std::int64_t runs = (A.shape.rows + run - 1) / run;
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel for schedule(guided) num_threads(thread_count(on))
        for (std::int64_t r = 0; r < runs; ++r)
            multiply_rows(row_ptr, alpha, A, x, beta, y.data(), r * run,
                          std::min<std::int64_t>((r + 1) * run, A.shape.rows));
    });
}

template <class V>
void spmv(cpu on, csr_balanced, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t) {
            const range rows = balanced_rows(row_ptr, A.shape.rows, threads, t);
            multiply_rows(row_ptr, alpha, A, x, beta, y.data(), rows.first, rows.last);
        }
    });
}

template <class V>
bool relax(cpu on, csr_balanced, const typename linear_operator<V, cpu>::relaxation& how,
           const csr<V, host_view>& A, in_columns<V, cpu> X, out_columns<V, cpu> Y) {
    if (X.count != 1) return false;
    constexpr std::int64_t run = most_run;  // rows, whose sums stay in L1
    const int threads = thread_count(on);
    const relaxed_rows<V> end{how, X.values.data(), Y.values.data()};
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t) {
            const range rows = balanced_rows(row_ptr, A.shape.rows, threads, t);
            std::array<V, run> sums;
            for (std::int64_t first = rows.first; first < rows.last; first += run) {
                const std::int64_t last = std::min(first + run, rows.last);
                multiply_rows(row_ptr + first, V(1), A, X.values, V(0), sums.data(), 0,
                              last - first);
                end.put_run(std::size_t(first), std::size_t(last - first), sums.data());
            }
        }
    });
    return true;
}

namespace {

/// Sum of a thread's last, unfinished row.
template <class V>
struct carry {
    std::int64_t row;
    V sum;
};

}  // namespace

template <class V>
void spmv(cpu on, csr_merge, V alpha, const csr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    const std::int64_t rows = A.shape.rows, nnz = std::int64_t(A.val.size());
    std::array<carry<V>, max_threads> carries;
    A.row_ptr.visit([&](const auto* row_ptr) {
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t) {
            const range steps = share(rows + nnz, threads, t);
            const std::int64_t first = merge_path_rows(row_ptr + 1, rows, nnz, steps.first);
            const std::int64_t last = merge_path_rows(row_ptr + 1, rows, nnz, steps.last);
            const auto partial = [&](std::int64_t k, std::int64_t end) {  // of a row
                const std::int64_t ends[] = {k, end};
                V sum(0);
                multiply_rows(ends, V(1), A, x, V(0), &sum, 0, 1);
                return sum;
            };
            const std::int64_t begin = steps.first - first, end = steps.last - last;
            if (first < last) {  // the row that the thread before began, then whole rows
                const V sum = partial(begin, std::int64_t(row_ptr[first + 1]));
                y[std::size_t(first)] = scaled(alpha, sum, beta, y[std::size_t(first)]);
                multiply_rows(row_ptr, alpha, A, x, beta, y.data(), first + 1, last);
            }
            const std::int64_t tail = first < last ? std::int64_t(row_ptr[last]) : begin;
            carries[std::size_t(t)] = {last, partial(tail, end)};
        }
    });
    for (int t = 0; t + 1 < threads; ++t) {
        const auto& [row, sum] = carries[std::size_t(t)];
        if (row < rows) y[std::size_t(row)] += product(alpha, sum);
    }
}

std::int64_t csr_subwarp::longest_row_on_gpu(const matrix_stats& s) {
    return longest_walk_on_gpu * lanes(s.rows, s.nnz);
}

work work_of_row_loop(const matrix_stats& s) {
    const double rows = std::max(double(s.rows), 1.0);
    double equal = 0;  // the chance that two rows are equally long
    for (const auto& [length, count] : s.row_lengths)
        equal += double(count) / rows * double(count) / rows;
    return {.work_units = 0.85 * double(s.nnz) + double(s.rows) * (3 + 5 * (1 - equal)),
            .critical_units = double(s.max_row_nnz())};
}

work csr_subwarp::work_on_gpu(const matrix_stats& s) {
    const int n = lanes(s.rows, s.nnz);
    const auto units = [&](std::int64_t length) {
        return units_of_a_warp + 2 * std::ceil(double(length) / (4 * n));
    };
    work w{.sector_requests = double(s.row_sectors), .critical_units = units(s.max_row_nnz())};
    for (const auto& [length, rows] : s.row_lengths)
        w.work_units += double(rows) * n / warp_rows * units(length);
    return w;
}

work csr_merge::work_on_cpu(const matrix_stats& s) {
    constexpr double units_a_step = 10;  // a step of a search waits for a load from beyond L1
    return {.work_units = work_of_row_loop(s).work_units,
            .critical_units = 2 * units_a_step * std::log2(double(s.rows + s.nnz) + 1)};
}

work csr_merge::work_on_gpu(const matrix_stats& s) {
    // Each of many tiles takes three times what its loads tell; a single tile does not.
    constexpr double tile = 1024, warps_a_tile = 4, units = 51, units_of_one = 17;
    return {.sector_requests = double(s.row_sectors),
            .work_units = double(s.nnz + s.rows) / tile * warps_a_tile * units,
            .critical_units = units_of_one,
            .launches = 2};
}

int csr_subwarp::lanes(std::int64_t rows, std::int64_t nnz) {
    int lanes = 2;
    while (lanes < 32 && lanes * rows < nnz) lanes *= 2;
    return lanes;
}

#define NZ_INSTANTIATE(V)                                                                     \
    template estimate csr<V, host>::cost(const matrix_stats&);                                \
    template csr<V, host> csr<V, host>::from(const csr<V, host_view>&);                       \
    template csr<V, host> assemble(shape, std::span<const index>, std::span<const index>,     \
                                   std::span<const V>);                                       \
    template void spmv(cpu, csr_serial, V, const csr<V, host_view>&, std::span<const V>, V,   \
                       std::span<V>);                                                         \
    template void spmv(cpu, csr_static, V, const csr<V, host_view>&, std::span<const V>, V,   \
                       std::span<V>);                                                         \
    template void spmv(cpu, csr_guided, V, const csr<V, host_view>&, std::span<const V>, V,   \
                       std::span<V>);                                                         \
    template void spmv(cpu, csr_balanced, V, const csr<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                         \
    template bool relax(cpu, csr_balanced, const linear_operator<V, cpu>::relaxation&,        \
                        const csr<V, host_view>&, in_columns<V, cpu>, out_columns<V, cpu>);   \
    template void spmv(cpu, csr_merge, V, const csr<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
