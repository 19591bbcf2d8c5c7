#include "nonzero/dist/local_rows.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"

namespace nz {
namespace {

/// The entries [first(k), last(k)) of A for each row k of `rows` in all.
template <class V, class First, class Last>
csr<V, host> parts_of_rows(cpu on, const csr<V, host_view>& A, index rows, index cols, First first,
                           Last last) {
    host_vector<offset> ptr(std::size_t(rows) + 1);
    ptr[0] = 0;
    parallel_for(thread_count(on), rows, [&](std::int64_t k) {
        ptr[std::size_t(k) + 1] = last(index(k)) - first(index(k));
    });
    for (std::size_t k = 1; k < ptr.size(); ++k) ptr[k] += ptr[k - 1];
    const auto nnz = std::size_t(ptr.back());
    csr<V, host> B{{rows, cols}, {}, host_vector<index>(nnz), host_vector<V>(nnz)};
    parallel_for(thread_count(on), rows, [&](std::int64_t k) {
        const offset from = first(index(k)), n = ptr[std::size_t(k) + 1] - ptr[std::size_t(k)];
        std::copy_n(A.col_ind.begin() + from, n, B.col_ind.begin() + ptr[std::size_t(k)]);
        std::copy_n(A.val.begin() + from, n, B.val.begin() + ptr[std::size_t(k)]);
    });
    B.row_ptr = offset_vector(ptr);
    return B;
}

/// Where the columns before `own` end in row i.
template <class V>
offset own_end(const csr<V, host_view>& A, index own, index i) {
    offset end = A.row_ptr[std::size_t(i) + 1];
    while (end > A.row_ptr[std::size_t(i)] && A.col_ind[std::size_t(end) - 1] >= own) --end;
    return end;
}

}  // namespace

template <class V>
csr<V, host> own_columns(cpu on, const csr<V, host_view>& A, index own) {
    return parts_of_rows<V>(
        on, A, A.shape.rows, own, [&](index i) { return A.row_ptr[std::size_t(i)]; },
        [&](index i) { return own_end(A, own, i); });
}

template <class V>
csr<V, host> other_columns(cpu on, const csr<V, host_view>& A, index own) {
    auto others = parts_of_rows<V>(
        on, A, A.shape.rows, A.shape.cols - own, [&](index i) { return own_end(A, own, i); },
        [&](index i) { return A.row_ptr[std::size_t(i) + 1]; });
    for (index& j : others.col_ind) j -= own;
    return others;
}

template <class V>
host_vector<index> edge_rows(cpu, const csr<V, host_view>& A, index own) {
    host_vector<index> rows;
    for (index i = 0; i < A.shape.rows; ++i)
        if (own_end(A, own, i) < A.row_ptr[std::size_t(i) + 1]) rows.push_back(i);
    return rows;
}

template <class V>
csr<V, host> rows_at(cpu on, const csr<V, host_view>& A, std::span<const index> rows) {
    const auto at = [&](index k) { return std::size_t(rows[std::size_t(k)]); };
    return parts_of_rows<V>(
        on, A, index(rows.size()), A.shape.cols, [&](index k) { return A.row_ptr[at(k)]; },
        [&](index k) { return A.row_ptr[at(k) + 1]; });
}

template <class V>
csr<V, host> rows_from(cpu on, const csr<V, host_view>& A, index first) {
    const auto at = [&](index k) { return std::size_t(first) + std::size_t(k); };
    return parts_of_rows<V>(
        on, A, A.shape.rows - first, A.shape.cols, [&](index k) { return A.row_ptr[at(k)]; },
        [&](index k) { return A.row_ptr[at(k) + 1]; });
}

template <class V>
csr<V, host_view> rows_before(cpu, const csr<V, host_view>& A, index last) {
    const auto rows = std::size_t(last) + 1;
    const auto nnz = last > 0 ? std::size_t(A.row_ptr[std::size_t(last)]) : 0;
    csr<V, host_view> B{{last, A.shape.cols}, {}, A.col_ind.first(nnz), A.val.first(nnz)};
    A.row_ptr.visit([&](const auto* ptr) { B.row_ptr = std::span(ptr, rows); });
    return B;
}

template <class V>
csr<V, host> stacked(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B) {
    csr<V, host> all{{A.shape.rows + B.shape.rows, A.shape.cols},
                     {},
                     extended(on, A.col_ind, B.col_ind),
                     extended(on, A.val, B.val)};
    host_vector<offset> ptr{0};
    ptr.reserve(std::size_t(all.shape.rows) + 1);
    for (index i = 0; i < A.shape.rows; ++i) ptr.push_back(A.row_ptr[std::size_t(i) + 1]);
    const offset entries = ptr.back();
    for (index i = 0; i < B.shape.rows; ++i) ptr.push_back(entries + B.row_ptr[std::size_t(i) + 1]);
    all.row_ptr = offset_vector(ptr);
    return all;
}

template <class T>
host_vector<T> elements_at(cpu, std::span<const T> v, std::span<const index> places,
                           std::size_t width) {
    host_vector<T> all;
    all.reserve(places.size() * width);
    for (const index i : places) {
        const auto at = v.subspan(std::size_t(i) * width, width);
        all.insert(all.end(), at.begin(), at.end());
    }
    return all;
}

#define NZ_INSTANTIATE(V)                                                                   \
    template csr<V, host> own_columns(cpu, const csr<V, host_view>&, index);                \
    template csr<V, host> other_columns(cpu, const csr<V, host_view>&, index);              \
    template host_vector<index> edge_rows(cpu, const csr<V, host_view>&, index);            \
    template csr<V, host> rows_at(cpu, const csr<V, host_view>&, std::span<const index>);   \
    template csr<V, host> rows_from(cpu, const csr<V, host_view>&, index);                  \
    template csr<V, host_view> rows_before(cpu, const csr<V, host_view>&, index);           \
    template csr<V, host> stacked(cpu, const csr<V, host_view>&, const csr<V, host_view>&); \
    template host_vector<V> elements_at(cpu, std::span<const V>, std::span<const index>,    \
                                        std::size_t);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template host_vector<index> elements_at(cpu, std::span<const index>, std::span<const index>,
                                        std::size_t);

}  // namespace nz
