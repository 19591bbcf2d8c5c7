#include "nonzero/dist/slice.hpp"

#include <algorithm>
#include <numeric>

#include "nonzero/core/agreement.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/dist/exchange.hpp"
#include "nonzero/dist/own_block.hpp"
#include "nonzero/dist/share_out.hpp"
#include "nonzero/formats/csr/to_csr.hpp"
#include "nonzero/matrix/ascending.hpp"

namespace nz {
namespace {

shares column_shares(const shares& rows, index cols) {
    return rows.total() == cols ? rows : equal_shares(cols, rows.parts());
}

}  // namespace

template <class V>
csr<V, host> rows_of(const csr<V, host_view>& A, range rows) {
    const auto first = std::size_t(rows.first), last = std::size_t(rows.last);
    const auto begin = std::ptrdiff_t(A.row_ptr[first]), end = std::ptrdiff_t(A.row_ptr[last]);
    host_vector<offset> ptr(last - first + 1);
    for (std::size_t i = first; i <= last; ++i) ptr[i - first] = A.row_ptr[i] - begin;
    return {{index(last - first), A.shape.cols},
            offset_vector(ptr),
            {A.col_ind.begin() + begin, A.col_ind.begin() + end},
            {A.val.begin() + begin, A.val.begin() + end}};
}

template <class V>
matrix_slice<V> slice_of(const communicator& ranks, const csr<V, host_view>& A) {
    agree(&ranks, [&] { validate(A, false); });
    expect_equal(&ranks, "slice_of",
                 std::array{double(A.shape.rows), double(A.shape.cols), double(A.val.size())});
    matrix_slice<V> mine;
    mine.rows = balanced_shares(A.row_ptr, ranks.size());
    mine.cols = column_shares(mine.rows, A.shape.cols);
    mine.own = rows_of(A, mine.rows.of(ranks.rank()));
    return mine;
}

template <class V>
matrix_slice<V> slice_from(const communicator& ranks, csr<V, host> own) {
    agree(&ranks, [&] { validate(view(own), false); });
    expect_equal(&ranks, "slice_from", std::array{double(own.shape.cols)});
    matrix_slice<V> mine;
    mine.rows = gathered_shares(ranks, own.shape.rows);
    mine.cols = column_shares(mine.rows, own.shape.cols);
    mine.own = std::move(own);
    return mine;
}

template <class V>
csr<V, host> own_block(const matrix_slice<V>& A, int rank) {
    const range cols = A.cols.of(rank);
    const auto each_own = [&](auto f) {
        for_each_entry(view(A.own), 0, A.own.shape.rows, [&](index i, index j, V v) {
            if (j >= cols.first && j < cols.last) f(i, j - index(cols.first), v);
        });
    };
    // Counted first: a block that grew would take twice its memory, as long as it is copied thrice.
    host_vector<offset> ptr(std::size_t(A.own.shape.rows) + 1);
    std::ranges::fill(ptr, 0);
    each_own([&](index i, index, V) { ++ptr[std::size_t(i) + 1]; });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    const auto nnz = std::size_t(ptr.back());
    csr<V, host> block{
        {A.own.shape.rows, A.cols.count(rank)}, {}, host_vector<index>(nnz), host_vector<V>(nnz)};
    std::size_t k = 0;
    each_own([&](index, index j, V v) { block.col_ind[k] = j, block.val[k++] = v; });
    block.row_ptr = offset_vector(ptr);
    return block;
}

template <class V>
host_vector<V> own_diagonal(const matrix_slice<V>& A, int rank) {
    const auto first = index(A.rows.of(rank).first);
    host_vector<V> diagonal(std::size_t(A.own.shape.rows));
    parallel_for(thread_count({}), A.own.shape.rows, [&](std::int64_t row) {
        V sum(0);
        for_each_entry(view(A.own), row, row + 1, [&](index i, index j, V v) {
            if (j == first + i) sum += v;
        });
        diagonal[std::size_t(row)] = sum;
    });
    return diagonal;
}

template <class V>
host_vector<V> joined(const communicator& ranks, std::span<const V> own) {
    std::vector<host_vector<V>> to(std::size_t(ranks.size()));
    to[0].assign(own.begin(), own.end());
    host_vector<V> all;
    for (const auto& part : exchanged(ranks, to)) all.insert(all.end(), part.begin(), part.end());
    return all;
}

#define NZ_INSTANTIATE(V)                                                             \
    template csr<V, host> rows_of(const csr<V, host_view>&, range);                   \
    template matrix_slice<V> slice_of(const communicator&, const csr<V, host_view>&); \
    template matrix_slice<V> slice_from(const communicator&, csr<V, host>);           \
    template csr<V, host> own_block(const matrix_slice<V>&, int);                     \
    template host_vector<V> own_diagonal(const matrix_slice<V>&, int);                \
    template host_vector<V> joined(const communicator&, std::span<const V>);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)
template host_vector<index> joined(const communicator&, std::span<const index>);

}  // namespace nz
