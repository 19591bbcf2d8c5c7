#include "nonzero/dist/numbering.hpp"

#include <algorithm>

#include "nonzero/core/parallel.hpp"

namespace nz {

index local_columns::local_of(index j) const {
    if (is_own(j)) return j - index(own.first);
    return own_count() + index(std::lower_bound(others.begin(), others.end(), j) - others.begin());
}

void make_distinct(host_vector<index>& all) {
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    all.shrink_to_fit();
}

host_vector<index> in_whole_nodes(const host_vector<index>& unknowns, index block) {
    if (block == 1) return unknowns;
    host_vector<index> all;
    for (std::size_t k = 0; k < unknowns.size(); ++k) {
        const index node = unknowns[k] / block;
        if (k > 0 && unknowns[k - 1] / block == node) continue;
        for (index u = 0; u < block; ++u) all.push_back(node * block + u);
    }
    return all;
}

local_columns unknowns_of(const local_columns& nodes, index k) {
    local_columns all{{nodes.own.first * k, nodes.own.last * k}, {}};
    for (const index node : nodes.others)
        for (index u = 0; u < k; ++u) all.others.push_back(node * k + u);
    return all;
}

host_vector<index> places_among(std::span<const index> these, std::span<const index> others) {
    host_vector<index> places;
    places.reserve(these.size());
    std::size_t at = 0;
    for (const index j : these) {
        while (at < others.size() && others[at] < j) ++at;
        places.push_back(index(at));
    }
    return places;
}

template <class V>
host_vector<index> columns_outside(cpu on, const csr<V, host_view>& A, range own) {
    const int threads = thread_count(on);
    std::vector<host_vector<index>> found(static_cast<std::size_t>(threads));
    parallel(threads, [&](int t) {
        const range mine = share(std::int64_t(A.col_ind.size()), threads, t);
        auto& columns = found[std::size_t(t)];
        std::copy_if(A.col_ind.begin() + mine.first, A.col_ind.begin() + mine.last,
                     std::back_inserter(columns),
                     [&](index j) { return j < own.first || j >= own.last; });
        make_distinct(columns);
    });
    host_vector<index> columns;
    for (const auto& of_thread : found)
        columns.insert(columns.end(), of_thread.begin(), of_thread.end());
    make_distinct(columns);
    return columns;
}

namespace {

/// The rows of A with other numbers in place of its columns, number_of(j). They ascend once the
/// columns that part_of(begin, end) finds in a row stand before all others.
template <class V, class Number, class Part>
csr<V, host> renumbered(cpu on, const csr<V, host_view>& A, index cols, Number number_of,
                        Part part_of) {
    csr<V, host> B{{A.shape.rows, cols},
                   {},
                   host_vector<index>(A.col_ind.size()),
                   host_vector<V>(A.val.size())};
    host_vector<offset> ptr(std::size_t(A.shape.rows) + 1);
    ptr[0] = 0;
    parallel_for(thread_count(on), A.shape.rows, [&](std::int64_t i) {
        const offset start = A.row_ptr[std::size_t(i)], stop = A.row_ptr[std::size_t(i) + 1];
        const auto begin = A.col_ind.begin() + start, end = A.col_ind.begin() + stop;
        const auto [first, last] = part_of(begin, end);
        const auto col = B.col_ind.begin() + start;
        const auto val = B.val.begin() + start;
        const auto skip = first - begin, part = last - first;
        std::transform(first, last, col, number_of);
        std::transform(begin, first, col + part, number_of);
        std::transform(last, end, col + part + skip, number_of);
        const auto from = A.val.begin() + start;
        std::copy(from + skip, from + skip + part, val);
        std::copy(from, from + skip, val + part);
        std::copy(from + skip + part, A.val.begin() + stop, val + part + skip);
        ptr[std::size_t(i) + 1] = stop;
    });
    B.row_ptr = offset_vector(ptr);
    return B;
}

}  // namespace

template <class V>
csr<V, host> numbered_locally(cpu on, const csr<V, host_view>& A, const local_columns& columns) {
    // Own columns come before those of ranks before.
    const auto own = [&](auto begin, auto end) {
        return std::pair(std::lower_bound(begin, end, index(columns.own.first)),
                         std::lower_bound(begin, end, index(columns.own.last)));
    };
    return renumbered(
        on, A, columns.count(), [&](index j) { return columns.local_of(j); }, own);
}

template <class V>
csr<V, host> numbered_globally(cpu on, const csr<V, host_view>& A, const local_columns& columns,
                               index cols) {
    const auto before =
        std::lower_bound(columns.others.begin(), columns.others.end(), index(columns.own.first)) -
        columns.others.begin();
    // Columns of ranks before come before the own ones.
    const auto others = [&](auto begin, auto end) {
        return std::pair(std::lower_bound(begin, end, columns.own_count()),
                         std::lower_bound(begin, end, columns.own_count() + index(before)));
    };
    return renumbered(
        on, A, cols, [&](index l) { return columns.global_of(l); }, others);
}

template <class V>
void renumber_others(cpu on, csr<V, host>& A, index own, std::span<const index> to, index cols) {
    parallel_for(thread_count(on), std::int64_t(A.col_ind.size()), [&](std::int64_t k) {
        index& j = A.col_ind[std::size_t(k)];
        if (j >= own) j = own + to[std::size_t(j - own)];
    });
    A.shape.cols = cols;
}

#define NZ_INSTANTIATE(V)                                                                        \
    template host_vector<index> columns_outside(cpu, const csr<V, host_view>&, range);           \
    template csr<V, host> numbered_locally(cpu, const csr<V, host_view>&, const local_columns&); \
    template csr<V, host> numbered_globally(cpu, const csr<V, host_view>&, const local_columns&, \
                                            index);                                              \
    template void renumber_others(cpu, csr<V, host>&, index, std::span<const index>, index);
NZ_FOR_EACH_VALUE(NZ_INSTANTIATE)

}  // namespace nz
