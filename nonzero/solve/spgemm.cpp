#include "nonzero/solve/spgemm.hpp"

#include <algorithm>
#include <numeric>
#include <string>

namespace nz {

template <class V>
csr<V, host> row_runs<V>::finish(cpu on) {
    std::partial_sum(ptr_.begin(), ptr_.end(), ptr_.begin());
    const auto nnz = std::size_t(ptr_.back());
    csr<V, host> C{shape_, {}, host_vector<index>(nnz), host_vector<V>(nnz)};
#pragma omp parallel for schedule(dynamic) num_threads(thread_count(on))
    for (std::int64_t r = 0; r < runs(); ++r) {
        part& from = part_of(r);
        const offset first = ptr_[std::size_t(r * run)];
        std::copy(from.col.begin(), from.col.end(), C.col_ind.begin() + first);
        std::copy(from.val.begin(), from.val.end(), C.val.begin() + first);
        from = {};
    }
    C.row_ptr = offset_vector(ptr_);
    return C;
}

template <class V>
void sort_row(std::span<index> col, std::span<V> val) {
    constexpr std::size_t short_row = 24;  // insertion beats everything else below
    if (col.size() <= short_row) {
        for (std::size_t k = 1; k < col.size(); ++k) {
            const index c = col[k];
            const V v = val[k];
            std::size_t at = k;
            for (; at > 0 && col[at - 1] > c; --at) col[at] = col[at - 1], val[at] = val[at - 1];
            col[at] = c, val[at] = v;
        }
        return;
    }
    thread_local std::vector<std::pair<index, V>> sorted;
    sorted.clear();
    for (std::size_t k = 0; k < col.size(); ++k) sorted.emplace_back(col[k], val[k]);
    std::sort(sorted.begin(), sorted.end(),
              [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < col.size(); ++k)
        col[k] = sorted[k].first, val[k] = sorted[k].second;
}

namespace {

/// One row of A B, appended. `seen[j]` is where column j stands in the row, or -1 where it does not
/// yet; it is left at -1 again.
template <class V, class PA, class PB>
void multiply_row(const PA* a_ptr, const csr<V, host_view>& A, const PB* b_ptr,
                  const csr<V, host_view>& B, std::int64_t i, typename row_runs<V>::part& to,
                  host_vector<std::int32_t>& seen) {
    const std::size_t start = to.col.size();
    for (PA k = a_ptr[i]; k < a_ptr[i + 1]; ++k) {
        const V a = A.val[std::size_t(k)];
        const index row = A.col_ind[std::size_t(k)];
        for (PB m = b_ptr[row]; m < b_ptr[row + 1]; ++m) {
            const index j = B.col_ind[std::size_t(m)];
            const V v = a * B.val[std::size_t(m)];
            std::int32_t& at = seen[std::size_t(j)];
            if (at >= 0) {
                to.val[start + std::size_t(at)] += v;
            } else {
                at = std::int32_t(to.col.size() - start);
                to.col.push_back(j), to.val.push_back(v);
            }
        }
    }
    for (std::size_t k = start; k < to.col.size(); ++k) seen[std::size_t(to.col[k])] = -1;
}

template <class V, class PA, class PB>
csr<V, host> multiply(cpu on, const PA* a_ptr, const csr<V, host_view>& A, const PB* b_ptr,
                      const csr<V, host_view>& B, bool ascending) {
    row_runs<V> C({A.shape.rows, B.shape.cols});
#pragma omp parallel num_threads(thread_count(on))
    {
        host_vector<std::int32_t> seen(std::size_t(B.shape.cols), -1);
#pragma omp for schedule(dynamic)
        for (std::int64_t r = 0; r < C.runs(); ++r) {
            auto& to = C.part_of(r);
            for (auto [i, last] = C.rows_of(r); i < last; ++i) {
                const std::size_t start = to.col.size();
                multiply_row(a_ptr, A, b_ptr, B, i, to, seen);
                if (ascending)
                    sort_row<V>(std::span(to.col).subspan(start), std::span(to.val).subspan(start));
                C.set_length(i, to.col.size() - start);
            }
        }
    }
    return C.finish(on);
}

/// Positions of the entries of each column, for every share of the rows: counted, summed up in the
/// order of columns and then shares.
template <class V>
struct column_counts {
    column_counts(cpu on, const csr<V, host_view>& A, int parts)
        : ptr(std::size_t(A.shape.cols) + 1, 0), next(std::size_t(parts)) {
        const auto cols = std::size_t(A.shape.cols);
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(on))
        for (int p = 0; p < parts; ++p) {
            auto& n = next[std::size_t(p)];
            n.assign(cols, 0);
            const range rows = share(A.shape.rows, parts, p);
            for_each_entry(A, rows.first, rows.last,
                           [&](index, index j, V) { ++n[std::size_t(j)]; });
        }
        for (std::size_t j = 0; j < cols; ++j) {
            offset at = ptr[j];
            for (auto& n : next) at += std::exchange(n[j], at);
            ptr[j + 1] = at;
        }
    }
    host_vector<offset> ptr;
    std::vector<host_vector<offset>> next;
};

}  // namespace

template <class V>
csr<V, host> spgemm(cpu on, const csr<V, host_view>& A, const csr<V, host_view>& B,
                    bool ascending) {
    if (A.shape.cols != B.shape.rows)
        throw argument_error("spgemm: A has " + std::to_string(A.shape.cols) + " columns, B " +
                             std::to_string(B.shape.rows) + " rows");
    return A.row_ptr.visit([&](const auto* a_ptr) {
        return B.row_ptr.visit(
            [&](const auto* b_ptr) { return multiply(on, a_ptr, A, b_ptr, B, ascending); });
    });
}

template <class V>
csr<V, host> transposed(cpu on, const csr<V, host_view>& A) {
    // Counters for every column and share: no more shares than entries pay for.
    const auto most = std::int64_t(A.val.size()) / std::max<std::int64_t>(A.shape.cols, 1);
    const int parts =
        int(std::clamp<std::int64_t>(thread_count(on), 1, std::max<std::int64_t>(most, 1)));
    column_counts<V> at(on, A, parts);
    csr<V, host> T{{A.shape.cols, A.shape.rows},
                   {},
                   host_vector<index>(A.val.size()),
                   host_vector<V>(A.val.size())};
#pragma omp parallel for schedule(static, 1) num_threads(thread_count(on))
    for (int p = 0; p < parts; ++p) {
        offset* const next = at.next[std::size_t(p)].data();
        const range rows = share(A.shape.rows, parts, p);
        for_each_entry(A, rows.first, rows.last, [&](index i, index j, V v) {
            const auto k = std::size_t(next[j]++);
            T.col_ind[k] = i, T.val[k] = v;
        });
    }
    T.row_ptr = offset_vector(at.ptr);
    return T;
}

#define NZ_INSTANTIATE(V)                                                                        \
    template class row_runs<V>;                                                                  \
    template void sort_row(std::span<index>, std::span<V>);                                      \
    template csr<V, host> spgemm(cpu, const csr<V, host_view>&, const csr<V, host_view>&, bool); \
    template csr<V, host> transposed(cpu, const csr<V, host_view>&);
NZ_INSTANTIATE(float)
NZ_INSTANTIATE(double)

}  // namespace nz
