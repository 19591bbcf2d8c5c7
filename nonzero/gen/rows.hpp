// Canonical CSR in two parallel passes over a rule: one that counts, one that fills.
#pragma once

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <numeric>
#include <string>

#include "nonzero/core/memory.hpp"
#include "nonzero/core/parallel.hpp"
#include "nonzero/formats/csr/csr.hpp"

namespace nz {

/// Throws argument_error `what` unless it holds.
inline void expect(bool holds, const std::string& what) {
    if (!holds) throw argument_error(what);
}

/// The product of the sizes as a row or column number. Throws argument_error where a size is
/// below 1 or the product above 2^31 - 1.
index checked_size(const std::string& name, std::initializer_list<std::int64_t> sizes);

/// The matrix whose row i has count(i) entries, which fill(i, columns, values) writes, columns
/// ascending. Both are called from several threads. Throws device_error where the matrix exceeds
/// the memory.
template <class V, class Count, class Fill>
csr<V, host> from_counts(shape shape, Count count, Fill fill) {
    constexpr std::int64_t run = 1024;  // rows: the least a thread takes at once
    const std::int64_t rows = shape.rows;
    expect_memory("the matrix", double(rows) * (sizeof(offset) + sizeof(std::int32_t)));
    host_vector<offset> ptr(std::size_t(rows) + 1);
    ptr[0] = 0;
    const int threads = thread_count({});
    parallel_for(threads, rows, run,
                 [&](std::int64_t i) { ptr[std::size_t(i) + 1] = count(index(i)); });
    std::partial_sum(ptr.begin(), ptr.end(), ptr.begin());
    const auto nnz = std::size_t(ptr.back());
    expect_memory("the matrix",
                  double(nnz) * (sizeof(V) + sizeof(index)) + double(rows) * sizeof(offset));
    csr<V, host> A{shape, {}, host_vector<index>(nnz), host_vector<V>(nnz)};
    index* const col = A.col_ind.data();
    V* const val = A.val.data();
    parallel_for(threads, rows, run, [&](std::int64_t i) {
        fill(index(i), col + ptr[std::size_t(i)], val + ptr[std::size_t(i)]);
    });
    A.row_ptr = offset_vector(ptr);
    return A;
}

/// The matrix of a rule that calls add(column, value) for each entry of row i, columns ascending:
/// row(i, add). A value of V, or a double.
template <class V, class Row>
csr<V, host> from_rows(shape shape, Row row) {
    return from_counts<V>(
        shape,
        [&](index i) {
            offset n = 0;
            row(i, [&](index, auto) { ++n; });
            return n;
        },
        [&](index i, index* col, V* val) {
            row(i, [&](index j, auto v) {
                *col++ = j;
                if constexpr (std::is_same_v<decltype(v), V>) {
                    *val++ = v;
                } else {
                    *val++ = V(real<V>(v));
                }
            });
        });
}

/// The places of unordered edges: edge(e, add) calls add(row, column) for the entries of edge e,
/// which may come more than once and are at most `most` an edge. Row i's columns, ascending and
/// distinct, are the first count[i] from ptr[i] on.
struct places {
    host_vector<offset> ptr, count;
    host_vector<index> col;
};
template <class Edge>
places collect(index rows, std::int64_t edges, std::int64_t most, Edge edge) {
    expect_memory("the list of edges",
                  double(rows) * 16 + double(edges) * double(most) * sizeof(index));
    places p{
        host_vector<offset>(std::size_t(rows) + 1), host_vector<offset>(std::size_t(rows)), {}};
    std::fill(p.ptr.begin(), p.ptr.end(), 0);
    offset* const next = p.ptr.data();
    const int threads = thread_count({});
    parallel_for(threads, edges, [&](std::int64_t e) {
        edge(e, [&](index i, index) {
            std::atomic_ref(next[std::size_t(i) + 1]).fetch_add(1, std::memory_order_relaxed);
        });
    });
    std::partial_sum(p.ptr.begin(), p.ptr.end(), p.ptr.begin());
    p.col.resize(std::size_t(p.ptr.back()));
    index* const col = p.col.data();
    std::copy_n(p.ptr.begin(), rows, p.count.begin());
    offset* const at = p.count.data();
    parallel_for(threads, edges, [&](std::int64_t e) {
        edge(e, [&](index i, index j) {
            col[std::atomic_ref(at[i]).fetch_add(1, std::memory_order_relaxed)] = j;
        });
    });
    parallel_for(threads, rows, 256, [&](std::int64_t i) {
        index *const first = col + next[i], *const last = col + next[i + 1];
        std::sort(first, last);  // whatever order the threads left
        at[i] = std::unique(first, last) - first;
    });
    return p;
}

}  // namespace nz
