#include "nonzero/formats/hyb/hyb.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// At least rows / reach of all rows have split_width entries or more.
constexpr std::int64_t reach = 3;

template <class V>
index split_width_of(const csr<V, host_view>& A) {
    if (A.shape.rows == 0) return 0;
    std::vector<index> lengths(std::size_t(A.shape.rows));
    for (std::size_t i = 0; i < lengths.size(); ++i)
        lengths[i] = index(A.row_ptr[i + 1] - A.row_ptr[i]);
    const auto third = lengths.begin() + (A.shape.rows - 1) / reach;
    std::nth_element(lengths.begin(), third, lengths.end(), std::greater<>());
    return *third;
}

/// The entries of every row from the `skip`-th on.
template <class V>
coo<V, host> rest_of_rows(const csr<V, host_view>& A, index skip) {
    const auto rows = std::size_t(A.shape.rows);
    std::vector<offset> start(rows + 1, 0);
    for (std::size_t i = 0; i < rows; ++i)
        start[i + 1] = start[i] + std::max<offset>(0, A.row_ptr[i + 1] - A.row_ptr[i] - skip);
    const auto nnz = std::size_t(start[rows]);
    coo<V, host> C{A.shape, host_vector<index>(nnz), host_vector<index>(nnz), host_vector<V>(nnz)};
    parallel_for(thread_count({}), A.shape.rows, [&](std::int64_t row) {
        const auto i = std::size_t(row);
        const offset n = start[i + 1] - start[i], from = A.row_ptr[i + 1] - n;
        std::fill_n(C.row_ind.begin() + start[i], n, index(i));
        std::copy_n(A.col_ind.begin() + from, n, C.col_ind.begin() + start[i]);
        std::copy_n(A.val.begin() + from, n, C.val.begin() + start[i]);
    });
    return C;
}

}  // namespace

std::int64_t split_width_of(const matrix_stats& s) {
    std::int64_t rows = 0;
    for (auto longest = s.row_lengths.rbegin(); longest != s.row_lengths.rend(); ++longest) {
        rows += longest->rows;
        if (rows * reach >= s.rows) return longest->length;
    }
    return 0;
}

namespace {

/// Entries of the rows beyond the width: of the COO.
std::int64_t entries_beyond(std::int64_t width, const matrix_stats& s) {
    std::int64_t rest = 0;
    for (const auto& [length, rows] : s.row_lengths)
        rest += rows * std::max<std::int64_t>(0, length - width);
    return rest;
}

}  // namespace

work hyb_row::work_on_cpu(const matrix_stats& s) {
    const std::int64_t width = split_width_of(s), rest = entries_beyond(width, s);
    work w = strided_work(double(width) * double(s.rows));
    if (rest == 0) return w;
    matrix_stats tail = s;
    tail.nnz = rest;
    w.work_units += coo_segmented::work_on_cpu(tail).work_units, w.launches = 2;
    return w;
}

work hyb_device::work_on_gpu(const matrix_stats& s) {
    const double width = double(split_width_of(s));
    const std::int64_t rest = entries_beyond(split_width_of(s), s);
    work w = thread_a_row_work(s, width * double(round_up_to_warp(s.rows) / warp_rows), width,
                               strided_units);
    if (rest == 0) return w;
    matrix_stats tail = s;
    tail.nnz = rest;
    const work coo = coo_segmented::work_on_gpu(tail);
    w.work_units += coo.work_units, w.critical_units += coo.critical_units;
    w.launches += coo.launches - 1;  // y is not scaled again
    return w;
}

template <class V, class S>
estimate hyb<V, S>::cost(const matrix_stats& s) {
    const std::int64_t width = split_width_of(s);
    const std::int64_t rest = entries_beyond(width, s);
    return {.matrix_bytes =
                double(width) * double(round_up_to_warp(s.rows)) * (sizeof(V) + sizeof(index)) +
                double(rest) * (sizeof(V) + 2 * sizeof(index)),
            .vector_bytes = vector_bytes<V>(s)};
}

template <class V, class S>
hyb<V, host> hyb<V, S>::from(const csr<V, host_view>& A) {
    return from(A, split_width_of(A));
}

template <class V, class S>
hyb<V, host> hyb<V, S>::from(const csr<V, host_view>& A, index split_width) {
    return {A.shape, split_width, nz::ell<V, host>::from(A, split_width),
            rest_of_rows(A, split_width)};
}

template <class V>
void spmv(cpu on, hyb_serial, V alpha, const hyb<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    spmv(on, ell_serial{}, alpha, A.ell, x, beta, y);
    spmv(on, coo_serial{}, alpha, A.coo, x, V(1), y);
}

template <class V>
void spmv(cpu on, hyb_row, V alpha, const hyb<V, host_view>& A, std::span<const V> x, V beta,
          std::span<V> y) {
    spmv(on, ell_row{}, alpha, A.ell, x, beta, y);
    spmv(on, coo_segmented{}, alpha, A.coo, x, V(1), y);
}

#define NZ_INSTANTIATE(V)                                                                   \
    template estimate hyb<V, host>::cost(const matrix_stats&);                              \
    template hyb<V, host> hyb<V, host>::from(const csr<V, host_view>&);                     \
    template hyb<V, host> hyb<V, host>::from(const csr<V, host_view>&, index);              \
    template void spmv(cpu, hyb_serial, V, const hyb<V, host_view>&, std::span<const V>, V, \
                       std::span<V>);                                                       \
    template void spmv(cpu, hyb_row, V, const hyb<V, host_view>&, std::span<const V>, V,    \
                       std::span<V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
