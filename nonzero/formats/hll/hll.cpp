#include "nonzero/formats/hll/hll.hpp"

#include "nonzero/core/parallel.hpp"

namespace nz {

template <class V, class S, storage_order O>
estimate hacked_ell<V, S, O>::cost(const matrix_stats& s) {
    static_assert(matrix_stats::groups[0] == default_hack_size);
    const std::int64_t hacks = (s.rows + default_hack_size - 1) / default_hack_size;
    const std::int64_t missing = hacks * default_hack_size - s.rows;  // rows of the last hack
    const std::int64_t stored =
        default_hack_size * s.group_width[0] - missing * s.last_group_width[0];
    return {.matrix_bytes = double(stored) * (sizeof(V) + sizeof(index)) +
                            double(hacks) * sizeof(index) +
                            offset_bytes(double(hacks) + 1, double(stored)),
            .vector_bytes = vector_bytes<V>(s),
            .declined = declined_padding(double(stored), double(s.nnz))};
}

namespace {

/// The rows of hack h, one after the other.
template <class V>
void fill_rows(const csr<V, host_view>& A, hll_rows<V, host>& B, std::int64_t h) {
    auto at = std::size_t(B.hack_ptr[std::size_t(h)]);
    const auto first = std::size_t(h * B.hack_size);
    for (std::size_t i = first; i < first + std::size_t(hack_rows(B, h)); ++i) {
        const auto begin = std::size_t(A.row_ptr[i]),
                   length = std::size_t(A.row_ptr[i + 1]) - begin;
        for (std::size_t k = 0; k < std::size_t(B.max_nnz[std::size_t(h)]); ++k, ++at) {
            B.col_ind[at] = k < length ? A.col_ind[begin + k] : index(-1);
            B.val[at] = k < length ? A.val[begin + k] : V(0);
        }
    }
}

}  // namespace

template <class V, class S, storage_order O>
hacked_ell<V, host, O> hacked_ell<V, S, O>::from(const csr<V, host_view>& A, index hack_size) {
    if (hack_size < 1)
        throw argument_error("hll: hack_size is " + std::to_string(hack_size) +
                             ", expected at least 1");
    const std::int64_t hacks = (std::int64_t(A.shape.rows) + hack_size - 1) / hack_size;
    hacked_ell<V, host, O> B{A.shape, hack_size, {}, host_vector<index>(std::size_t(hacks)),
                             {},      {}};
    host_vector<offset> ptr(std::size_t(hacks) + 1, 0);
    for (std::int64_t h = 0; h < hacks; ++h) {
        const std::int64_t first = h * hack_size, rows = hack_rows(B, h);
        B.max_nnz[std::size_t(h)] = longest_row(A, first, first + rows);
        ptr[std::size_t(h) + 1] = ptr[std::size_t(h)] + rows * B.max_nnz[std::size_t(h)];
    }
    check_padding("hll", ptr.back(), A);
    B.hack_ptr = offset_vector(ptr);
    B.col_ind.resize(std::size_t(ptr.back())), B.val.resize(std::size_t(ptr.back()));
    parallel_for(thread_count({}), hacks, 64, [&](std::int64_t h) {
        if constexpr (O == storage_order::row_major) {
            fill_rows(A, B, h);
        } else {
            const offset start = ptr[std::size_t(h)];
            const std::int64_t rows = hack_rows(B, h);
            fill_panel(
                A, [&](std::int64_t r) { return index(h * hack_size + r); }, rows, rows,
                B.max_nnz[std::size_t(h)], B.col_ind.data() + start, B.val.data() + start);
        }
    });
    return B;
}

namespace {

/// The rows of hack h of y = alpha A x + beta y.
template <class V>
void multiply_hack(V alpha, const hll_rows<V, host_view>& A, const V* x, V beta, V* y,
                   std::int64_t h) {
    const std::int64_t width = A.max_nnz[std::size_t(h)], rows = hack_rows(A, h);
    const index* col_ind = A.col_ind.data() + A.hack_ptr[std::size_t(h)];
    const V* val = A.val.data() + A.hack_ptr[std::size_t(h)];
    y += h * A.hack_size;
    for (std::int64_t r = 0; r < rows; ++r, col_ind += width, val += width) {
        V sum(0);
        for (std::int64_t k = 0; k < width && col_ind[k] >= 0; ++k)
            sum += product(val[k], x[col_ind[k]]);
        y[r] = scaled(alpha, sum, beta, y[r]);
    }
}

template <class V>
void multiply_hack(V alpha, const hll<V, host_view>& A, const V* x, V beta, V* y, std::int64_t h) {
    y += h * A.hack_size;
    for_each_sum(hack(A, h), x,
                 [&](std::int64_t r, V sum) { y[r] = scaled(alpha, sum, beta, y[r]); });
}

template <class M, class V>
void multiply_serial(V alpha, const M& A, std::span<const V> x, V beta, std::span<V> y) {
    for (std::int64_t h = 0; h < piece_count(A); ++h)
        multiply_hack(alpha, A, x.data(), beta, y.data(), h);
}

template <class M, class V>
void multiply_guided(cpu on, V alpha, const M& A, std::span<const V> x, V beta, std::span<V> y) {
    const std::int64_t hacks = piece_count(A);
#pragma omp parallel for schedule(guided) num_threads(thread_count(on))
    for (std::int64_t h = 0; h < hacks; ++h) multiply_hack(alpha, A, x.data(), beta, y.data(), h);
}

}  // namespace

template <class V>
void spmv(cpu, hll_serial, V alpha, const hll_rows<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_serial(alpha, A, x, beta, y);
}

template <class V>
void spmv(cpu on, hll_row_guided, V alpha, const hll_rows<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y) {
    multiply_guided(on, alpha, A, x, beta, y);
}

template <class V>
void spmv(cpu, hll_column_serial, V alpha, const hll<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    multiply_serial(alpha, A, x, beta, y);
}

template <class V>
void spmv(cpu on, hll_column_guided, V alpha, const hll<V, host_view>& A, std::span<const V> x,
          V beta, std::span<V> y) {
    multiply_guided(on, alpha, A, x, beta, y);
}

#define NZ_INSTANTIATE(V)                                                                          \
    template estimate hll<V, host>::cost(const matrix_stats&);                                     \
    template estimate hll_rows<V, host>::cost(const matrix_stats&);                                \
    template hll<V, host> hll<V, host>::from(const csr<V, host_view>&, index);                     \
    template hll_rows<V, host> hll_rows<V, host>::from(const csr<V, host_view>&, index);           \
    template void spmv(cpu, hll_serial, V, const hll_rows<V, host_view>&, std::span<const V>, V,   \
                       std::span<V>);                                                              \
    template void spmv(cpu, hll_row_guided, V, const hll_rows<V, host_view>&, std::span<const V>,  \
                       V, std::span<V>);                                                           \
    template void spmv(cpu, hll_column_serial, V, const hll<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                              \
    template void spmv(cpu, hll_column_guided, V, const hll<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
