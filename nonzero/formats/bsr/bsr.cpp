#include "nonzero/formats/bsr/bsr.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>

#include <fmt/core.h>

#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/bsr/bsr_simd.hpp"

namespace nz {
namespace {

/// Bytes, as a multiple of CSR's, beyond which the fill costs more than the columns saved.
constexpr double max_bytes_of_csr = 1.5;

constexpr index max_block_size = 64;  // the bits of a word of `stored`

void check_block(index block_rows, index block_cols) {
    if (block_rows < 1 || block_cols < 1 || block_rows > max_block_size / block_cols)
        throw argument_error(fmt::format("bsr: blocks of {} x {}, expected 1 to {} values in one",
                                         block_rows, block_cols, max_block_size));
}

std::int64_t block_row_count(std::int64_t rows, index block_rows) {
    return (rows + block_rows - 1) / block_rows;
}

template <class V>
double bytes_with(std::int64_t rows, std::int64_t blocks, index side) {
    return double(blocks) * double(std::size_t(side * side) * sizeof(V) + sizeof(std::uint64_t) +
                                   sizeof(index)) +
           offset_bytes(double(block_row_count(rows, side)) + 1, double(blocks));
}

/// The side of the fewest bytes, and what speaks against it.
struct choice {
    index side;
    double bytes;
    std::string declined;
};

template <class V>
choice choose_side(std::int64_t rows, std::int64_t nnz, std::span<const std::int64_t> blocks) {
    choice best{0, std::numeric_limits<double>::infinity(), {}};
    for (std::size_t b = 0; b < blocks.size(); ++b) {
        const double bytes = bytes_with<V>(rows, blocks[b], matrix_stats::block_sides[b]);
        if (bytes < best.bytes) best = {matrix_stats::block_sides[b], bytes, {}};
    }
    const double csr_bytes =
        double(nnz) * (sizeof(V) + sizeof(index)) + offset_bytes(double(rows) + 1, double(nnz));
    if (best.bytes > max_bytes_of_csr * csr_bytes)
        best.declined = fmt::format(
            "its best blocks, of side {}, would take {:.3g} times the bytes of CSR, more than {}",
            best.side, best.bytes / csr_bytes, max_bytes_of_csr);
    return best;
}

/// Walks the blocks of one row of blocks from left to right: begin(block column) for each, then
/// entry(row inside the block, position in A) for its entries.
template <class V, class Begin, class Entry>
void for_each_block(const csr<V, host_view>& A, std::int64_t block_row, index block_rows,
                    index block_cols, Begin begin, Entry entry) {
    const std::int64_t first = block_row * block_rows;
    const auto n = std::size_t(std::min<std::int64_t>(block_rows, A.shape.rows - first));
    std::array<offset, max_block_size> next, end;
    for (std::size_t r = 0; r < n; ++r) {
        next[r] = A.row_ptr[std::size_t(first) + r];
        end[r] = A.row_ptr[std::size_t(first) + r + 1];
    }
    constexpr index none = std::numeric_limits<index>::max();
    for (;;) {
        index leftmost = none;
        for (std::size_t r = 0; r < n; ++r)
            if (next[r] < end[r]) leftmost = std::min(leftmost, A.col_ind[std::size_t(next[r])]);
        if (leftmost == none) return;  // no column has that number, the largest there can be
        const index block_col = leftmost / block_cols;
        const std::int64_t beyond = (std::int64_t(block_col) + 1) * block_cols;
        begin(block_col);
        for (std::size_t r = 0; r < n; ++r)
            for (; next[r] < end[r] && A.col_ind[std::size_t(next[r])] < beyond; ++next[r])
                entry(index(r), std::size_t(next[r]));
    }
}

template <class V>
std::int64_t blocks_in_row(const csr<V, host_view>& A, std::int64_t block_row, index block_rows,
                           index block_cols) {
    std::int64_t blocks = 0;
    for_each_block(
        A, block_row, block_rows, block_cols, [&](index) { ++blocks; }, [](index, std::size_t) {});
    return blocks;
}

}  // namespace

template <class V>
std::int64_t count_blocks(const csr<V, host_view>& A, index block_rows, index block_cols) {
    check_block(block_rows, block_cols);
    const std::int64_t block_row_total = block_row_count(A.shape.rows, block_rows);
    return parallel_reduce(
        thread_count({}), block_row_total, std::int64_t(0), std::plus<>(),
        [&](std::int64_t i) { return blocks_in_row(A, i, block_rows, block_cols); });
}

namespace {

/// The index in matrix_stats::block_sides of the side that takes the fewest bytes.
std::size_t chosen_side(const matrix_stats& s) {
    const index side = choose_side<double>(s.rows, s.nnz, s.blocks).side;
    std::size_t b = 0;
    while (matrix_stats::block_sides[b] != side) ++b;
    return b;
}

}  // namespace

work bsr_block::work_on_cpu(const matrix_stats& s) {
    const std::size_t b = chosen_side(s);
    const double side = matrix_stats::block_sides[b], blocks = double(s.blocks[b]),
                 nnz = double(s.nnz);
    const double fill = blocks * side * side - nnz;
    if (has_simd_block_rows())  // a vector a row of a block; fitted to five matrices (EPYC)
        return {.sector_requests = blocks,
                .work_units = 0.6 * blocks * side + fill + 9 * double(s.rows),
                .critical_units = 0.6 * double(s.max_row_nnz())};
    return {.sector_requests = blocks * side,
            .work_units = nnz / 2 + 4 * blocks + 4 * fill + 4 * double(s.rows),
            .critical_units = double(s.max_row_nnz())};
}

work bsr_block::work_on_gpu(const matrix_stats& s) {
    const std::size_t b = chosen_side(s);
    const index side = matrix_stats::block_sides[b];
    const double at_once = double(warp_rows / side), rows = double(block_row_count(s.rows, side));
    const auto units = [&](double blocks) {
        return units_of_a_warp + std::ceil(blocks / at_once) * (1 + side) + at_once / 10;
    };
    return {.sector_requests = double(s.blocks[b]) * side,
            .work_units = rows * units(double(s.blocks[b]) / std::max(rows, 1.0)),
            .critical_units = units(double(s.max_row_nnz()) / side)};
}

template <class V, class S>
estimate bsr<V, S>::cost(const matrix_stats& s) {
    const choice best = choose_side<V>(s.rows, s.nnz, s.blocks);
    return {
        .matrix_bytes = best.bytes, .vector_bytes = vector_bytes<V>(s), .declined = best.declined};
}

template <class V, class S>
bsr<V, host> bsr<V, S>::from(const csr<V, host_view>& A) {
    std::array<std::int64_t, std::size(matrix_stats::block_sides)> blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b)
        blocks[b] = count_blocks(A, matrix_stats::block_sides[b], matrix_stats::block_sides[b]);
    const choice best = choose_side<V>(A.shape.rows, std::int64_t(A.val.size()), blocks);
    if (!best.declined.empty()) throw argument_error("bsr: " + best.declined);
    return from(A, best.side, best.side);
}

template <class V, class S>
bsr<V, host> bsr<V, S>::from(const csr<V, host_view>& A, index block_rows, index block_cols) {
    check_block(block_rows, block_cols);
    const std::int64_t block_row_total = block_row_count(A.shape.rows, block_rows);
    host_vector<offset> ptr(std::size_t(block_row_total) + 1);
    ptr[0] = 0;
    const int threads = thread_count({});
    parallel_for(threads, block_row_total, [&](std::int64_t i) {
        ptr[std::size_t(i) + 1] = blocks_in_row(A, i, block_rows, block_cols);
    });
    for (std::size_t i = 0; i < std::size_t(block_row_total); ++i) ptr[i + 1] += ptr[i];
    const auto blocks = std::size_t(ptr.back()), size = std::size_t(block_rows * block_cols);
    bsr<V, host> B{A.shape,
                   block_rows,
                   block_cols,
                   {},
                   host_vector<index>(blocks),
                   host_vector<std::uint64_t>(blocks),
                   host_vector<V>(blocks * size)};
    parallel_for(threads, block_row_total, [&](std::int64_t i) {
        auto b = std::size_t(ptr[std::size_t(i)]) - 1;
        for_each_block(
            A, i, block_rows, block_cols,
            [&](index block_col) {
                B.block_col_ind[++b] = block_col;
                B.stored[b] = 0;
                std::fill_n(B.val.begin() + std::ptrdiff_t(b * size), size, V(0));
            },
            [&](index r, std::size_t k) {
                const index at = r * block_cols + A.col_ind[k] % block_cols;
                B.stored[b] |= std::uint64_t(1) << at;
                B.val[b * size + std::size_t(at)] = A.val[k];
            });
    });
    B.block_row_ptr = offset_vector(ptr);
    return B;
}

template <class V>
double fill(const bsr<V, host_view>& A) {
    const auto entries_of = [&](std::int64_t b) -> std::int64_t {
        return std::popcount(A.stored[std::size_t(b)]);
    };
    const std::int64_t nnz = parallel_reduce(thread_count({}), std::ssize(A.stored),
                                             std::int64_t(0), std::plus<>(), entries_of);
    return nnz == 0 ? 1 : double(A.val.size()) / double(nnz);
}

namespace {

/// The rows of blocks [first, last) of y = alpha A x + beta y. R x C is the size of a block, 0 x 0
/// where it is known at run time only.
template <int R, int C, class V, class P>
void multiply_block_rows(const P* ptr, V alpha, const bsr<V, host_view>& A, std::span<const V> x,
                         V beta, std::span<V> y, std::int64_t first, std::int64_t last) {
    const index rows = R > 0 ? R : A.block_rows, cols = C > 0 ? C : A.block_cols;
    const std::int64_t size = std::int64_t(rows) * cols;
    const std::uint64_t full = ~std::uint64_t(0) >> (max_block_size - size);
    std::array<V, R == 0 ? max_block_size : R> sums;
    for (std::int64_t i = first; i < last; ++i) {
        sums.fill(V(0));
        for (auto b = std::int64_t(ptr[i]); b < std::int64_t(ptr[i + 1]); ++b) {
            const V* const val = A.val.data() + b * size;
            const V* const at = x.data() + std::int64_t(A.block_col_ind[std::size_t(b)]) * cols;
            std::uint64_t bits = A.stored[std::size_t(b)];
            if (bits == full) {
                for (index r = 0; r < rows; ++r) {
                    V sum(0);
                    for (index c = 0; c < cols; ++c) sum += product(val[r * cols + c], at[c]);
                    sums[std::size_t(r)] += sum;
                }
                continue;
            }
            for (; bits != 0; bits &= bits - 1) {
                const index k = std::countr_zero(bits);
                sums[std::size_t(k / cols)] += product(val[k], at[k % cols]);
            }
        }
        const std::int64_t row = i * rows;
        const std::int64_t n = std::min<std::int64_t>(rows, A.shape.rows - row);
        V* const to = y.data() + row;
        for (std::int64_t r = 0; r < n; ++r)
            to[r] = scaled(alpha, sums[std::size_t(r)], beta, to[r]);
    }
}

/// The same, with the sides that from chooses known to the compiler.
template <class V, class P>
void multiply_any(const P* ptr, V alpha, const bsr<V, host_view>& A, std::span<const V> x, V beta,
                  std::span<V> y, std::int64_t first, std::int64_t last) {
    if constexpr (std::floating_point<V>)
        if (const auto loop = simd_block_rows_loop<V, P>(A))
            return loop(ptr, alpha, A, x.data(), beta, y.data(), first, last);
    const index side = A.block_rows == A.block_cols ? A.block_rows : 0;
    switch (side) {
        case 2:
            return multiply_block_rows<2, 2>(ptr, alpha, A, x, beta, y, first, last);
        case 3:
            return multiply_block_rows<3, 3>(ptr, alpha, A, x, beta, y, first, last);
        case 4:
            return multiply_block_rows<4, 4>(ptr, alpha, A, x, beta, y, first, last);
        case 6:
            return multiply_block_rows<6, 6>(ptr, alpha, A, x, beta, y, first, last);
        case 8:
            return multiply_block_rows<8, 8>(ptr, alpha, A, x, beta, y, first, last);
        default:
            return multiply_block_rows<0, 0>(ptr, alpha, A, x, beta, y, first, last);
    }
}

}  // namespace

template <class V>
void spmv(cpu, bsr_serial, V alpha, const bsr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    A.block_row_ptr.visit(
        [&](const auto* ptr) { multiply_any(ptr, alpha, A, x, beta, y, 0, piece_count(A)); });
}

template <class V>
void spmv(cpu on, bsr_block, V alpha, const bsr<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    const int threads = thread_count(on);
    const std::int64_t block_row_total = piece_count(A);
    A.block_row_ptr.visit([&](const auto* ptr) {
        // The first row of blocks that starts at or after the share of blocks of thread t.
        const auto first_row = [&](int t) -> std::int64_t {
            if (t == 0) return 0;
            if (t == threads) return block_row_total;
            const offset target = share(offset(A.stored.size()), threads, t).first;
            return std::lower_bound(ptr, ptr + block_row_total, target) - ptr;
        };
#pragma omp parallel for schedule(static, 1) num_threads(threads)
        for (int t = 0; t < threads; ++t)
            multiply_any(ptr, alpha, A, x, beta, y, first_row(t), first_row(t + 1));
    });
}

#define NZ_INSTANTIATE(V)                                                                   \
    template estimate bsr<V, host>::cost(const matrix_stats&);                              \
    template bsr<V, host> bsr<V, host>::from(const csr<V, host_view>&);                     \
    template bsr<V, host> bsr<V, host>::from(const csr<V, host_view>&, index, index);       \
    template std::int64_t count_blocks(const csr<V, host_view>&, index, index);             \
    template double fill(const bsr<V, host_view>&);                                         \
    template void spmv(cpu, bsr_serial, V, const bsr<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                       \
    template void spmv(cpu, bsr_block, V, const bsr<V, host_view>&, std::span<const V>, V,  \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
